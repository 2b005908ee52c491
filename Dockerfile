# The program in a container: tables under /tables, the page and HTTP at port 8080.
#
#   docker build -t hoffman .
#   docker run -p 127.0.0.1:8080:8080 -v hoffman-tables:/tables hoffman
#   docker run -v hoffman-tables:/tables hoffman solve "1K1k4/1P6/8/8/8/8/r7/2R5 w - - 0 1"
FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY Cargo.toml Cargo.lock ./
COPY .cargo .cargo
COPY crates crates
RUN cargo build --release --locked --package hoffman-cli

FROM debian:bookworm-slim
RUN useradd --no-log-init --user-group --uid 10001 --shell /usr/sbin/nologin hoffman \
    && mkdir /tables \
    && chown 10001:10001 /tables
COPY --from=build /src/target/release/hoffman /usr/local/bin/hoffman
COPY LICENSE /usr/local/share/doc/hoffman/LICENSE
USER 10001:10001
WORKDIR /tables
ENV HOFFMAN_TABLES=/tables
VOLUME ["/tables"]
EXPOSE 8080
ENTRYPOINT ["hoffman"]
CMD ["serve", "--listen", "0.0.0.0:8080"]
