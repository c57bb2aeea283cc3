"""The Python client of Tortuga: sign in, take a ticket, sit down, play. README.md has a whole player in a few lines."""

from services.client.client import Bots, Client, Suggestion
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
from services.client.profile import Profile
from services.client.seat import Journal, Response, Seat
from services.client.tables import Tables, wish_of

__all__ = ["Bots", "Client", "ClientError", "FairnessFault", "Journal", "OutcomeUnknown", "Profile", "ProtocolFault"]
__all__ += ["Refused", "Response", "Seat", "Suggestion", "Tables", "TicketEnded", "TokenExpired", "Unreachable"]
__all__ += ["wish_of"]
