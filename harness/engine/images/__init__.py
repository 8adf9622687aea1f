"""Container images that anyone can build again to the same id, without an image registry."""

from harness.engine.images.shelf import (
    BuiltImage,
    ListedImage,
    VerifyResult,
    build,
    ensure,
    list_images,
    relock,
    verify,
)
from harness.engine.images.tidy import tidy

__all__ = ["BuiltImage", "ListedImage", "VerifyResult", "build", "ensure", "list_images", "relock", "tidy", "verify"]
