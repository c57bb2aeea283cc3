"""The Python client of Tortuga: sign in, take a ticket, sit down, play. README.md has a whole player in a few lines."""

from services.client.client import Client
from services.client.errors import (
    ClientError,
    FairnessFault,
    OutcomeUnknown,
    ProtocolFault,
    Refused,
    TicketEnded,
    TokenExpired,
    Unreachable,
)
from services.client.seat import Journal, Response, Seat

__all__ = ["Client", "ClientError", "FairnessFault", "Journal", "OutcomeUnknown", "ProtocolFault", "Refused"]
__all__ += ["Response", "Seat", "TicketEnded", "TokenExpired", "Unreachable"]
