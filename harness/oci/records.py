"""The three JSON documents of an OCI image layout that we write and read (OCI image specification 1.1).

Their keys are OCI's own, in camel case; what other tools add beside them is let be, since digests hold the documents.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from harness.digest import Digest, canonical, loads
from harness.errors import UserError
from harness.records import Count
from harness.untrusted import clean_text

INDEX_TYPE: Final = "application/vnd.oci.image.index.v1+json"
MANIFEST_TYPE: Final = "application/vnd.oci.image.manifest.v1+json"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
EMPTY_TYPE = "application/vnd.oci.empty.v1+json"
EMPTY = b"{}"
"""The config of an artifact that has none."""

TITLE = "org.opencontainers.image.title"
"""The name of a layer's file: ORAS gives only layers that have one."""
REF_NAME = "org.opencontainers.image.ref.name"

ID_ANNOTATION = "dev.trialbox.image.id"
NAME_ANNOTATION = "dev.trialbox.image.name"
"""What of ours an image's manifest says: our id of it, and its name."""

LAYOUT_FILE, INDEX_FILE = "oci-layout", "index.json"
LAYOUT = canonical({"imageLayoutVersion": "1.0.0"})

AnyType = Annotated[str, Field(pattern=r"^[a-zA-Z0-9!#$&^_.+-]{1,127}/[a-zA-Z0-9!#$&^_.+-]{1,127}$")]


class OciRecord(BaseModel):
    """Base: immutable, OCI's keys, unknown ones ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)

    def to_bytes(self) -> bytes:
        """The document, canonical; what is not set is left out."""
        return canonical(self.model_dump(mode="json", by_alias=True, exclude_none=True))


class Descriptor(OciRecord):
    """A blob by type, digest and size in bytes."""

    media_type: AnyType
    artifact_type: AnyType | None = None
    digest: Digest
    size: Count
    annotations: dict[str, str] | None = None


class Manifest(OciRecord):
    """An image, or an artifact: a config and layers."""

    schema_version: Literal[2] = 2
    media_type: Literal["application/vnd.oci.image.manifest.v1+json"] = MANIFEST_TYPE
    artifact_type: AnyType | None = None
    config: Descriptor
    layers: tuple[Descriptor, ...]
    annotations: dict[str, str] | None = None


class Index(OciRecord):
    """Several manifests under one name."""

    schema_version: Literal[2] = 2
    media_type: Literal["application/vnd.oci.image.index.v1+json"] = INDEX_TYPE
    artifact_type: AnyType | None = None
    manifests: tuple[Descriptor, ...]
    annotations: dict[str, str] | None = None


O = TypeVar("O", bound=OciRecord)  # noqa: E741 - a type variable


def read_document(kind: type[O], data: bytes, where: str) -> O:
    """A document from bytes that anybody may have written.

    Raises:
        UserError: they are none.
    """
    try:
        return kind.model_validate(loads(data))
    except (ValueError, RecursionError, ValidationError) as error:
        first = str(error).splitlines()[0]
        problem = f"is no {kind.__name__.lower()} of an OCI layout: {clean_text(first, 120)}"
        raise UserError(where, problem, "get the bundle again") from error
