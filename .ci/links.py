"""Whether every link and anchor of the built site leads somewhere, and no page loads anything from another host."""
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).resolve().parent.parent / "_docs"


class Page(HTMLParser):
    "The ids of a page, what it links to, and what it loads"
    def __init__(self, path):
        super().__init__()
        text = path.read_text(encoding="utf-8")
        self.ids, self.links, self.loads = {""}, [], re.findall(r"import \w+ from '([^']+)'", text)
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids |= {attrs.get("id"), attrs.get("name")}
        target = attrs.get("href") or attrs.get("src")
        if tag == "script" or tag == "link" and attrs.get("rel") != "canonical": self.loads.append(target)
        elif tag in ("a", "img", "iframe"): self.links.append(target)


def faults(path, pages):
    "Each link of the page at `path` that leads nowhere, and each load from elsewhere"
    page = pages[path]
    for link in filter(None, page.links + page.loads):
        url = urlsplit(link)
        if url.scheme or url.netloc:
            if link in page.loads: yield f"loads {link} from another host"
            continue
        target = (path.parent / unquote(url.path)).resolve() if url.path else path
        if target.is_dir(): target /= "index.html"
        if not target.is_file(): yield f"broken link {link}"
        elif target in pages and unquote(url.fragment) not in pages[target].ids: yield f"broken anchor {link}"


def main():
    "Print the faults of all pages; return 1 when there is any"
    pages = {path: Page(path) for path in sorted(DOCS.rglob("*.html"))}
    found = [f"{path.name}: {fault}" for path in pages for fault in faults(path, pages)]
    for fault in found: print(fault)
    print(f"{len(pages)} pages, {sum(len(p.links) for p in pages.values())} links, {len(found)} faults")
    return bool(found) or not pages


if __name__ == "__main__": sys.exit(main())
