"""The page of the studio, and the player that a run folder carries."""

from reknit.serve.studio.player import write_operation_player, write_player

__all__ = ["write_operation_player", "write_player"]
