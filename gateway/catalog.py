"""The catalogue: which games there are. It needs no token."""

from __future__ import annotations

from gateway.callers import Context
from gateway.games import Games
from tortuga.gateway.v1 import catalog_service_pb2 as pb
from tortuga.gateway.v1.catalog_service_pb2_grpc import CatalogServiceServicer


class Catalog(CatalogServiceServicer):
    """CatalogService over the games that the links know."""

    def __init__(self, games: Games) -> None:
        self._games = games

    async def ListGames(  # noqa: N802 - gRPC's name
        self, request: pb.ListGamesRequest, context: Context
    ) -> pb.ListGamesResponse:
        """Games that at least one usable pod serves, by id."""
        served = sorted(self._games.served(), key=lambda game: game.id)
        return pb.ListGamesResponse(games=[game.description for game in served])
