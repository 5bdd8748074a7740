"""The software bill of materials, SPDX 2.3: what is in a package, with version and licence."""

import datetime
import json

from . import common


def package(number, name, version, licence, where):
    return {"SPDXID": f"SPDXRef-Package-{number}", "name": name, "versionInfo": version, "downloadLocation": where,
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION"}


def page_packages():
    """What the report's page is bundled from, with the versions of the lock file."""
    lock = json.loads((common.ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))
    uplot = lock["packages"]["node_modules/uplot"]
    return [("uPlot", uplot["version"], "MIT", f"pkg:npm/uplot@{uplot['version']}")]


def write(path, linked):
    """`linked`: the sources that are compiled in."""
    ours = package(0, common.NAME, common.version(), "Apache-2.0 AND CC-BY-SA-4.0", common.HOMEPAGE)
    ours["comment"] = "The price table is under CC BY-SA 4.0, all else under Apache-2.0."
    parts = [(source.name, source.version, source.licence, f"pkg:cargo/{source.crate}@{source.crate_version}")
             for source in linked]
    packages = [ours]
    for number, (name, version, licence, where) in enumerate([*parts, *page_packages()], 1):
        entry = package(number, name, version, licence, "NOASSERTION")
        entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": where}]
        packages.append(entry)
    created = datetime.datetime.fromtimestamp(common.commit_time(), datetime.timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{common.NAME}-{common.version()}",
        "documentNamespace": f"{common.HOMEPAGE}/spdx/{common.NAME}-{common.version()}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: packaging/build"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-Package-0"},
            *({"spdxElementId": "SPDXRef-Package-0", "relationshipType": "CONTAINS", "relatedSpdxElement": entry["SPDXID"]}
              for entry in packages[1:])],
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
