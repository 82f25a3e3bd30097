"""Who is there, as a coordinator has told it."""

from __future__ import annotations

import pytest

from lakeward.errors import RetriableError
from lakeward.protocol.messages.metadata import MetadataResponse, PbServerNode
from lakeward.server.member.known_servers import KnownServers
from lakeward.server.whereabouts.cluster_map import Door, Lead

DOOR = Door("CLIENT", "here", 1)


def test_servers_are_told_by_the_listener_of_whoever_asks() -> None:
    """One that listens everywhere is where its neighbour was found; one without such a listener is left out."""
    known = KnownServers()
    both = PbServerNode(node_id=1, host="a", port=1, listeners="FLUSS://a:1,CLIENT://:2")
    other = PbServerNode(node_id=2, host="b", port=1, listeners="FLUSS://b:1")
    known.learn_servers(both, (both, other))
    servers = known.servers(DOOR)
    assert servers.coordinator == PbServerNode(node_id=1, host="here", port=2)
    assert servers.tablets == (PbServerNode(node_id=1, host="here", port=2),)


def test_what_a_coordinator_said_to_a_server_is_told_to_clients_by_their_own_listener() -> None:
    """They could not come in by that of the servers; who is gone since is left out, and nobody is told too little."""
    known, said = KnownServers(), [PbServerNode(node_id=number, host="in", port=number) for number in (0, 1)]
    answer = MetadataResponse(coordinator_server=said[0], tablet_servers=(said[1],))
    with pytest.raises(RetriableError, match="listener CLIENT"):
        known.with_addresses(answer, DOOR)
    zero, one, two = (
        PbServerNode(node_id=number, host="in", port=number, listeners=f"FLUSS://in:{number},CLIENT://out:{number}")
        for number in (0, 1, 2)
    )
    known.learn_servers(zero, (one, two))
    told = known.with_addresses(answer, DOOR)
    assert told.coordinator_server == PbServerNode(node_id=0, host="out", port=0)
    assert told.tablet_servers == (PbServerNode(node_id=1, host="out", port=1),)


def test_a_bucket_that_nobody_was_told_of_has_no_leader() -> None:
    """What is told later counts; what is forgotten is as if it had never been told."""
    known = KnownServers()
    known.learn_leads(7, None, [(1, Lead(4, 2, (4,)))])
    assert [lead.server_id for lead in known.leads(7, None, 2)] == [None, 4]
    known.learn_leads(7, None, [(0, Lead(5, 0, (5,)))])
    assert [lead.server_id for lead in known.leads(7, None, 2)] == [5, 4]
    known.forget_table(7)
    assert known.leads(7, None, 1)[0].server_id is None
