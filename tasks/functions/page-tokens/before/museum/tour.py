"""Walks through all the pages."""

from museum.pages import page


def tour(items, size, **options):
    """The ids on each page, from the first to the one without a next page."""
    pages, token = [], None
    while len(pages) < 50:
        found = page(items, size, token, **options)
        pages.append([item["id"] for item in found["items"]])
        token = found["next"]
        if token is None:
            break
    return pages


def tour_while_it_changes(before, after, size, **options):
    """The ids on the first page of *before* and, with its token, on the next page of *after*."""
    first = page(before, size, None, **options)
    second = page(after, size, first["next"], **options)
    return [[item["id"] for item in found["items"]] for found in (first, second)]


def turn_round(items, size, there, back):
    """The ids on a page, and on the page that its token leads to in another direction."""
    first = page(items, size, None, descending=there)
    second = page(items, size, first["next"], descending=back)
    return [[item["id"] for item in found["items"]] for found in (first, second)]
