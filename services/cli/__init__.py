"""The command line, `tortuga`: serves, starts the platform on one machine, measures and demonstrates."""

import os

# gRPC's C core writes lines of its own to stderr, between ours in JSON, about connections that end as they should. It
# reads this when it is first imported, which is after this file.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
