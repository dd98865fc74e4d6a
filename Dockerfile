# The server as a static binary in an empty image, and a host for SSH clients as another
# one (the target ssh-host). `make pin-images` adds the digest of the build image.
ARG GO_IMAGE=golang:1.26
FROM $GO_IMAGE AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
# Shown by gridstand-server version; `make image` sets them.
ARG VERSION=dev
ARG COMMIT=
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/gridstand/gridstand/internal/version.Version=$VERSION -X github.com/gridstand/gridstand/internal/version.Commit=$COMMIT" \
    -o /gridstand-server ./cmd/gridstand-server
# Empty directories: for games, and for what docker-compose.ssh.yml keeps.
WORKDIR /volumes/data
WORKDIR /volumes/ssh

FROM build AS build-ssh-host
WORKDIR /src
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/gridstand/gridstand/internal/version.Version=$VERSION -X github.com/gridstand/gridstand/internal/version.Commit=$COMMIT" \
    -o /gridstand ./cmd/gridstand

FROM scratch AS ssh-host
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build-ssh-host /gridstand /gridstand
COPY --from=build --chown=65532:65532 --chmod=700 /volumes/ssh/ /ssh/
USER 65532:65532
ENV GRIDSTAND_SSH_HOST_KEY=/ssh/host_key
VOLUME /ssh
EXPOSE 2222
ENTRYPOINT ["/gridstand", "ssh-host"]

# The last one is what a build without a target makes.
FROM scratch
# Certificate authorities, for a Redis with TLS.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /gridstand-server /gridstand-server
COPY --from=build --chown=65532:65532 --chmod=700 /volumes/ /
USER 65532:65532
# The games, unless a setting names another store.
ENV GRIDSTAND_DATA=/data
VOLUME /data
EXPOSE 2048
# The image has no shell and no curl: the server checks itself, at the address and
# with the encryption that its environment sets.
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s \
    CMD ["/gridstand-server", "healthcheck"]
ENTRYPOINT ["/gridstand-server"]
