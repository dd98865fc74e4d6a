# The server as one static binary in an otherwise empty image.
# `make pin-images` adds the digest.
ARG GO_IMAGE=golang:1.26
FROM $GO_IMAGE AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
# What the binary says of itself; `make image` fills them in.
ARG VERSION=dev
ARG COMMIT=
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/gridstand/gridstand/internal/version.Version=$VERSION -X github.com/gridstand/gridstand/internal/version.Commit=$COMMIT" \
    -o /gridstand-server ./cmd/gridstand-server

FROM scratch
# For a Redis that is reached by TLS.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /gridstand-server /gridstand-server
USER 65532:65532
EXPOSE 2048
# There is no shell and no curl here: the server asks itself, at the address
# and with the encryption that its environment says.
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s \
    CMD ["/gridstand-server", "healthcheck"]
ENTRYPOINT ["/gridstand-server"]
