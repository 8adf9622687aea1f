"""Results of admission in the ledger: a task that was admitted and that nothing has touched since is as it was."""

from __future__ import annotations

from collections.abc import Mapping

from harness.digest import digest
from harness.engine.images import BuiltImage
from harness.errors import VerifyError
from harness.ledger import CacheKind, Ledger
from harness.records import from_json, to_json
from harness.store import Store, is_whole
from harness.suites.admission import clock
from harness.suites.admission.check import Subject, rules
from harness.suites.admission.records import Admission
from harness.suites.parity_sweep import images_for

ADMISSION_TYPE = "application/vnd.trialbox.admission+json"


class Remembered:
    """What is known of earlier checks in one state folder."""

    def __init__(self, ledger: Ledger, store: Store, images: Mapping[str, BuiltImage]) -> None:
        self._ledger, self._store, self._images = ledger, store, images

    def get(self, subject: Subject) -> Admission | None:
        """The task's admission under the same hashes, images and rules; None if it was never admitted so."""
        known = self._ledger.cached(CacheKind.ADMISSION, self._key(subject))
        if known is None or not is_whole(self._store, known.digest):
            return None
        try:
            return from_json(Admission, self._store.get(known.digest))
        except VerifyError:  # whole, so an earlier version's, whose records were other ones
            return None

    def keep(self, subject: Subject, admission: Admission) -> None:
        """Store a result; only one that admits the task is taken up again later."""
        blob = self._store.put(to_json(admission), ADMISSION_TYPE)
        if admission.admitted:
            self._ledger.keep(CacheKind.ADMISSION, self._key(subject), blob)

    def _key(self, subject: Subject) -> str:
        task, ref = subject.task, subject.ref
        swept = images_for(task) if task.program is not None else ()
        ids = [self._images[name].ref.id for name in sorted({"base", clock.IMAGE, *task.images, *swept})]
        required = subject.suite.spec.require_checklist
        return digest([ref.suite, ref.task, ref.score_hash, ref.authoring_hash, required, ids, rules()])
