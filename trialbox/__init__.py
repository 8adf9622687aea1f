"""The command `trialbox`: composes the other rooms and shows progress."""
