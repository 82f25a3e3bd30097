"""Sockets around the protocol.

The server's side
    listener           a named address that accepts connections
    server_connection  one client's connection: frames in, answers out
    rest               a while in which a client's next requests wait
    turns              whoever has much to do has a bounded share of each turn of the loop
    server_tls         how it encrypts: certificate, key, whom it trusts
    dispatch           API → handler; every request is answered once
    error_answers      the only place where errors become answers
    forwarder          hands connections on to another server, whatever they say
    buffer_pool        memory for frames, used again because fresh memory is slow to touch, with one bound for all

The client's side
    channel            one TCP connection to a server: requests out, answers in, many in flight
    pool               channels by address, opened on first use and again after they broke
    client_security    how a client comes in: encrypted or not, as somebody or as nobody in particular
    login              who a client is, and how it shows that
    client_tls         how it encrypts, and whom it trusts

Both sides
    encrypted_writes   what is written where it is encrypted: piece by piece, as the other end takes it
"""
