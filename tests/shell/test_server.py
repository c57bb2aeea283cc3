"""The server's health, reflection and ports; reflection is asked by a real generic client, `buf curl`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2

from services.kit.shell.reflection import Reflection, Source, pool_of
from services.kit.shell.server import GrpcServer, PortTaken
from tortuga.gateway.v1 import catalog_service_pb2

CATALOGUE = "tortuga.gateway.v1.CatalogService"
BUF = Path(sys.executable).with_name("buf")


def made_up(game: str) -> FileDescriptorSet:
    """A game's files, made at run time: its service's request imports a file that every game has, each its own way."""
    common = FileDescriptorProto(name="common.proto", package="common", syntax="proto3")
    common.message_type.add(name="Shared").field.add(name=f"only_in_{game}", number=1, label=1, type=9)
    own = FileDescriptorProto(name=f"{game}.proto", package=f"{game}.v1", syntax="proto3", dependency=["common.proto"])
    own.message_type.add(name="Request").field.add(
        name="shared", number=1, label=1, type=11, type_name=".common.Shared"
    )
    method = own.service.add(name="GameService").method.add(name="Play", client_streaming=True, server_streaming=True)
    method.input_type = method.output_type = f".{game}.v1.Request"
    return FileDescriptorSet(file=[own, common])  # the wrong way round, as a sender may


@pytest.fixture
async def server() -> AsyncIterator[tuple[GrpcServer, str]]:
    made = GrpcServer(CATALOGUE)
    for game in ("go", "nim"):
        made.reflection.put(game, Source.of_files(made_up(game), [f"{game}.v1.GameService"]))
    port = await made.start("127.0.0.1", 0)
    yield made, f"127.0.0.1:{port}"
    await made.stop(0)


async def buf(address: str, *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(str(BUF), "curl", "--protocol", "grpc", "--http2-prior-knowledge", *arguments[:-1]),
        f"http://{address}{arguments[-1]}",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


@pytest.mark.parametrize("version", ["grpc-v1", "grpc-v1alpha"])
async def test_a_generic_client_finds_services_and_methods(server: tuple[GrpcServer, str], version: str) -> None:
    """Both protocol versions list generated services and those of each game's own descriptors."""
    _, address = server
    protocol = ("--reflect-protocol", version)
    assert (await buf(address, *protocol, "--list-services", "")).split() == [
        "go.v1.GameService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
        "nim.v1.GameService",
        CATALOGUE,
    ]
    methods = (await buf(address, *protocol, "--list-methods", "")).split()
    assert "nim.v1.GameService/Play" in methods
    assert f"{CATALOGUE}/ListGames" in methods


async def test_a_generic_client_calls_a_method_it_never_saw(server: tuple[GrpcServer, str]) -> None:
    """Reflection is enough to call: here the health service, with its message in JSON."""
    made, address = server
    made.health.ready()
    answer = await buf(address, "-d", "{}", "/grpc.health.v1.Health/Check")
    assert '"SERVING"' in answer


def files_of(answer: reflection_pb2.ServerReflectionResponse) -> dict[str, FileDescriptorProto]:
    files = [FileDescriptorProto.FromString(data) for data in answer.file_descriptor_response.file_descriptor_proto]
    return {file.name: file for file in files}


def test_an_answer_carries_all_imports_from_one_source() -> None:
    """Two games' own versions of one file never mix."""
    reflection = Reflection()
    for game in ("nim", "go"):
        reflection.put(game, Source.of_files(made_up(game), [f"{game}.v1.GameService"]))
    for game in ("nim", "go"):
        for asked in (f"{game}.v1.GameService", f"{game}.v1.GameService.Play", f"{game}.v1.Request"):
            request = reflection_pb2.ServerReflectionRequest(file_containing_symbol=asked)
            files = files_of(reflection.answer(request))
            assert set(files) == {f"{game}.proto", "common.proto"}
            assert files["common.proto"].message_type[0].field[0].name == f"only_in_{game}"
    reflection.drop("nim")
    gone = reflection.answer(reflection_pb2.ServerReflectionRequest(file_by_filename="nim.proto"))
    assert gone.error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]
    assert "nim.v1.GameService" not in reflection.services()


def test_generated_code_is_a_source_with_its_imports() -> None:
    """The catalogue's file comes with the game's description that it imports."""
    reflection = Reflection()
    reflection.put("platform", Source.of_generated(CATALOGUE))
    request = reflection_pb2.ServerReflectionRequest(file_containing_symbol=CATALOGUE)
    files = files_of(reflection.answer(request))
    assert set(files) == {catalog_service_pb2.DESCRIPTOR.name, "tortuga/play/v1/game.proto"}


def test_extensions_and_nonsense_are_answered() -> None:
    """Extension numbers are listed; an empty question is invalid; what is not there is not found."""
    reflection = Reflection()
    reflection.put("platform", Source.of_generated(CATALOGUE))
    listed = reflection.answer(
        reflection_pb2.ServerReflectionRequest(all_extension_numbers_of_type="google.protobuf.MethodOptions")
    )
    assert listed.all_extension_numbers_response.base_type_name == "google.protobuf.MethodOptions"
    extension = reflection_pb2.ExtensionRequest(containing_type="google.protobuf.MethodOptions", extension_number=1)
    answers = {
        "empty": reflection.answer(reflection_pb2.ServerReflectionRequest()),
        "extension": reflection.answer(reflection_pb2.ServerReflectionRequest(file_containing_extension=extension)),
        "type": reflection.answer(reflection_pb2.ServerReflectionRequest(all_extension_numbers_of_type="no.Such")),
    }
    codes = {name: answer.error_response.error_code for name, answer in answers.items()}
    assert codes == {"empty": 3, "extension": 5, "type": 5}


def test_descriptors_that_lack_an_import_are_refused() -> None:
    """A set must hold all it imports."""
    files = made_up("nim")
    del files.file[1]
    with pytest.raises(ValueError, match=r"nim\.proto"):
        pool_of(files)


async def test_health_is_readiness_and_liveness(server: tuple[GrpcServer, str]) -> None:
    """Not ready, ready, draining for good; a watcher hears each and is let go at the end; alive all the time."""
    made, address = server
    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)  # its stubs know no methods

        async def check(service: str) -> int:
            return int((await stub.Check(health_pb2.HealthCheckRequest(service=service))).status)

        serving, not_serving = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
        watching = stub.Watch(health_pb2.HealthCheckRequest())
        assert (await watching.read()).status == not_serving
        assert await check("") == await check(CATALOGUE) == not_serving
        made.health.ready()
        assert (await watching.read()).status == serving
        assert await check("") == await check(CATALOGUE) == await check("liveness") == serving
        made.health.drain()
        assert (await watching.read()).status == not_serving
        assert await watching.read() is grpc.aio.EOF
        made.health.ready()
        assert await check("") == not_serving
        assert await check("liveness") == serving
        with pytest.raises(grpc.aio.AioRpcError, match="SERVICE_UNKNOWN"):
            await check("no.Such")


async def test_a_port_has_one_server(server: tuple[GrpcServer, str]) -> None:
    """A second server on the port is refused; the system would share it silently."""
    _, address = server
    port = int(address.rpartition(":")[2])
    second = GrpcServer()
    with pytest.raises(PortTaken, match=address):
        await second.start("127.0.0.1", port)
    await second.stop(0)
