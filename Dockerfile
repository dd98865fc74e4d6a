# Builds two images that contain only a static binary: the server, and a host for SSH
# clients (target ssh-host). images.env has the digest of the build image.
#
# Both are built from source. With BINARIES=released, the server's image contains the binary
# of a release instead: <platform>/gridstand-server in the build context (.goreleaser.yaml).
ARG GO_IMAGE=golang:1.26
ARG BINARIES=build

FROM $GO_IMAGE AS go
# Empty directories for games, and for the volume of docker-compose.ssh.yml.
WORKDIR /volumes/data
WORKDIR /volumes/ssh
# An empty directory for --store memory.
WORKDIR /temporary/tmp

FROM go AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
# `gridstand-server --version` prints these; `make image` sets them.
ARG VERSION=dev
ARG COMMIT=
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/gridstand/gridstand/internal/version.Version=$VERSION -X github.com/gridstand/gridstand/internal/version.Commit=$COMMIT" \
    -o /gridstand-server ./cmd/gridstand-server

FROM build AS build-ssh-host
WORKDIR /src
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/gridstand/gridstand/internal/version.Version=$VERSION -X github.com/gridstand/gridstand/internal/version.Commit=$COMMIT" \
    -o /gridstand ./cmd/gridstand

FROM scratch AS ssh-host
COPY --from=go /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build-ssh-host /gridstand /gridstand
COPY --from=go --chown=65532:65532 --chmod=700 /volumes/ssh/ /ssh/
USER 65532:65532
ENV GRIDSTAND_SSH_HOST_KEY=/ssh/host_key
VOLUME /ssh
EXPOSE 2222
ENTRYPOINT ["/gridstand", "ssh-host"]

FROM scratch AS released
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/gridstand-server /gridstand-server

FROM $BINARIES AS binaries

# A build without a target uses the last stage.
FROM scratch
# Certificate authorities for Redis with TLS.
COPY --from=go /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=binaries /gridstand-server /gridstand-server
COPY --from=go --chown=65532:65532 --chmod=700 /volumes/ /
# A tmpfs mounted at /tmp belongs to root, but has the mode of the image's /tmp.
COPY --from=go --chmod=1777 /temporary/ /
USER 65532:65532
# The directory of the games, unless a setting selects another store.
ENV GRIDSTAND_DATA=/data
VOLUME /data
EXPOSE 2048
# The image has no shell and no curl, so the server checks itself, at the address and
# with the encryption that its environment sets.
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s \
    CMD ["/gridstand-server", "healthcheck"]
ENTRYPOINT ["/gridstand-server"]
