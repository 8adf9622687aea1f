"""Signals of the workshop's machines, and who is told of them."""


class Switchboard:
    """Listeners by signal: for each signal a list of ``(rank, name, tags)``."""

    def __init__(self, listeners={}):
        self._listeners = listeners

    def listen(self, signal, name, rank=0, tags=[]):
        """Register a listener. Besides *tags* it has the signal itself as a tag."""
        tags.append(signal)
        self._listeners.setdefault(signal, []).append((rank, name, tags))

    def order(self, signal):
        """The names of a signal's listeners, in the order in which they are told."""
        return [name for _, name, _ in sorted(self._listeners.get(signal, []))]

    def tags(self, signal, name):
        """All tags under which a name listens to a signal, sorted."""
        return sorted({tag for _, other, tags in self._listeners.get(signal, []) if other == name for tag in tags})

    def drop(self, signal, name):
        """Remove a name from a signal and say how many registrations that were."""
        count = 0
        for entry in self._listeners.get(signal, []):
            if entry[1] == name:
                self._listeners[signal].remove(entry)
                count += 1
        return count

    def rounds(self, signals, most):
        """For each signal, the first *most* names that are told."""
        calls = [lambda: self.order(signal)[:most] for signal in signals]
        return [call() for call in calls]

    def signals(self):
        """The signals that somebody listens to, sorted."""
        return sorted(signal for signal, entries in self._listeners.items() if entries)
