"""Our images in a layout, as OCI images proper: the config and the plain layers, which images share.

A layer is not compressed, so that its digest is the diff id of our own identity and needs no compressor's version.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tarfile import TarError
from typing import IO

import docker

from harness.digest import loads
from harness.engine.images import archive
from harness.engine.images.archive import Content
from harness.errors import UserError, VerifyError
from harness.files import storage_error
from harness.oci.layout import Layout
from harness.oci.records import CONFIG_TYPE, ID_ANNOTATION, LAYER_TYPE, NAME_ANNOTATION, Descriptor, Manifest
from harness.oci.write import Blob, Image, blob_of


def whole(name: str, content: Content, path: Path) -> Image:
    """One of our images as it goes into a layout, out of the archive at *path*.

    Raises:
        VerifyError: the archive lacks a layer; one that is damaged is noticed when it is written.
    """
    config = blob_of(content.config())
    layers = [_stored(path, diff_id, name) for diff_id in content.layers]
    manifest = Manifest(
        config=Descriptor(media_type=CONFIG_TYPE, digest=config.digest, size=config.size),
        layers=tuple(Descriptor(media_type=LAYER_TYPE, digest=one.digest, size=one.size) for one in layers),
        annotations={ID_ANNOTATION: content.id, NAME_ANNOTATION: name},
    )
    return Image(content.id, manifest, (config, *layers))


def read_content(layout: Layout, manifest: Manifest, where: str) -> Content:
    """What a layout's image is by our own identity: nothing of its config is taken that we would not write.

    Raises:
        UserError: it is no image of ours.
        VerifyError: its config is missing or changed.
    """
    data = layout.read(manifest.config.digest)
    try:
        value = loads(data)
        epoch = int(datetime.strptime(value["created"], "%Y-%m-%dT%H:%M:%S%z").timestamp())
        content = Content(tuple(value["rootfs"]["diff_ids"]), value["architecture"], epoch)
        exact = content.config() == data
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError, OSError):
        exact = False
    if not exact or tuple(layer.digest for layer in manifest.layers) != content.layers:
        raise UserError(where, "is no image as trialbox writes them", "get the bundle again")
    return content


def load_image(api: docker.APIClient, layout: Layout, name: str, content: Content, scratch: Path) -> str:
    """Put a layout's image into the engine, by way of an archive in *scratch*; the engine's handle.

    Raises:
        InfraError: the engine or the disk refuses.
        VerifyError: a layer is missing or changed, or the engine has something else now.
    """
    found = archive.find(api, name, content)
    if found is not None:
        return found
    path = scratch / f"{content.id.removeprefix('sha256:')}.tar"
    try:
        with _layers(layout, content) as layers:
            archive.write_archive(path, name, content, layers)
    except OSError as error:
        raise storage_error(path, error) from error
    try:
        archive.check_archive(path, name, content)
        return archive.put(api, name, content, path)
    finally:
        path.unlink(missing_ok=True)


def _stored(path: Path, diff_id: str, name: str) -> Blob:
    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        with archive.layer_of(path, diff_id) as (handle, _):
            yield handle

    try:
        with archive.layer_of(path, diff_id) as (_, size):
            return Blob(diff_id, size, opened)
    except (KeyError, OSError, TarError) as error:
        raise VerifyError(str(path), f"has no layer {diff_id}", f"`trialbox images build {name}`") from error


@contextmanager
def _layers(layout: Layout, content: Content) -> Iterator[list[tuple[IO[bytes], int]]]:
    """Each layer as an open file: where it lies in the layout, it is read in place."""
    opened: list[tuple[IO[bytes], int]] = []
    try:
        for diff_id in content.layers:
            place = layout.place(diff_id)
            opened.append((place.path.open("rb"), place.size))
            opened[-1][0].seek(place.offset)
        yield opened
    finally:
        for handle, _ in opened:
            handle.close()
