"""Sockets around the protocol.

The server's side
    listener           a named address that accepts connections
    server_connection  one client's connection: frames in, answers out
    dispatch           API → handler; the only place where errors become answers
    buffer_pool        receive buffers for large frames, used again because fresh memory is slow to touch

The client's side
    channel            one TCP connection to a server: requests out, answers in, many in flight
    frame_receiver     answers cut out of a byte stream without copying large ones
    pool               channels by address, opened on first use and again after they broke
"""
