"""Server reflection, v1 and v1alpha, over sources that come and go.

A source is one descriptor pool and the services in it that are served. There may be several, because each game brings
the contracts it was built with; every answer carries the file with all it imports, from one pool, so a client never
mixes two. The two protocol versions have equal bytes: one set of messages (v1alpha's, which grpcio-reflection brings)
does for both.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf import text_format
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import Default, DescriptorPool
from grpc_reflection.v1alpha import reflection_pb2

SERVICES = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")
"""The two names this answers under."""


@dataclass(frozen=True)
class Source:
    """*services* are full names, all of them in *pool*."""

    pool: DescriptorPool
    services: Sequence[str]

    @classmethod
    def of_files(cls, files: FileDescriptorSet, services: Sequence[str]) -> Source:
        """A source with a pool of its own, from descriptors that came over the wire."""
        return cls(pool_of(files), services)

    @classmethod
    def of_generated(cls, *services: str) -> Source:
        """A source over the generated code that this process imported."""
        return cls(Default(), services)


def pool_of(files: FileDescriptorSet) -> DescriptorPool:
    """A new pool with *files*, which may come in any order but must hold all they import.

    Raises:
        ValueError: an import is missing, or two files contradict each other.
    """
    pool = DescriptorPool()
    waiting = {file.name: file for file in files.file}

    def add(name: str) -> None:
        file = waiting.pop(name, None)
        if file is None:  # added already; or missing, which the pool will say
            return
        for imported in file.dependency:
            add(imported)
        try:
            pool.Add(file)
        except TypeError as error:
            raise ValueError(f"descriptor set: {name} does not fit") from error

    for name in list(waiting):
        add(name)
    return pool


class Reflection:
    """The registry, and the servicer over it."""

    def __init__(self) -> None:
        self._sources: dict[str, Source] = {"grpc.reflection": _own_source()}

    def put(self, key: str, source: Source) -> None:
        """Add *source*, in place of the one that had the same *key* (a game's id, `platform`)."""
        self._sources[key] = source

    def drop(self, key: str) -> None:
        """Forget the source under *key*, if there is one."""
        self._sources.pop(key, None)

    def services(self) -> list[str]:
        """Full names of all services, in alphabetical order, reflection itself included."""
        return sorted({name for source in self._sources.values() for name in source.services})

    def register(self, server: grpc.aio.Server) -> None:
        """Serve both protocol versions on *server*."""
        handler = grpc.stream_stream_rpc_method_handler(
            self._serve,
            request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
            response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
        )
        server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler(name, {"ServerReflectionInfo": handler}) for name in SERVICES]
        )

    async def _serve(
        self, requests: AsyncIterator[reflection_pb2.ServerReflectionRequest], _: Any
    ) -> AsyncIterator[reflection_pb2.ServerReflectionResponse]:
        async for request in requests:
            answer = self.answer(request)
            answer.valid_host = request.host
            answer.original_request.CopyFrom(request)
            yield answer

    def answer(self, request: reflection_pb2.ServerReflectionRequest) -> reflection_pb2.ServerReflectionResponse:
        """Answer one question."""
        match request.WhichOneof("message_request"):
            case "list_services":
                names = [reflection_pb2.ServiceResponse(name=name) for name in self.services()]
                return reflection_pb2.ServerReflectionResponse(
                    list_services_response=reflection_pb2.ListServiceResponse(service=names)
                )
            case "file_by_filename":
                return self._file(lambda pool: pool.FindFileByName(request.file_by_filename))
            case "file_containing_symbol":
                return self._file(lambda pool: _symbol_file(pool, request.file_containing_symbol))
            case "file_containing_extension":
                return self._file(lambda pool: _extension_file(pool, request.file_containing_extension))
            case "all_extension_numbers_of_type":
                return self._extensions(request.all_extension_numbers_of_type)
            case _:
                return _error(grpc.StatusCode.INVALID_ARGUMENT)

    def _file(self, find: Callable[[DescriptorPool], FileDescriptor]) -> reflection_pb2.ServerReflectionResponse:
        for source in self._in_order():
            try:
                found = find(source.pool)
            except KeyError:
                continue
            files: dict[str, bytes] = {}
            _collect(found, files)
            return reflection_pb2.ServerReflectionResponse(
                file_descriptor_response=reflection_pb2.FileDescriptorResponse(file_descriptor_proto=files.values())
            )
        return _error(grpc.StatusCode.NOT_FOUND)

    def _extensions(self, containing: str) -> reflection_pb2.ServerReflectionResponse:
        for source in self._in_order():
            try:
                message = source.pool.FindMessageTypeByName(containing)
            except KeyError:
                continue
            numbers = sorted(extension.number for extension in source.pool.FindAllExtensions(message))
            return reflection_pb2.ServerReflectionResponse(
                all_extension_numbers_response=reflection_pb2.ExtensionNumberResponse(
                    base_type_name=message.full_name, extension_number=numbers
                )
            )
        return _error(grpc.StatusCode.NOT_FOUND)

    def _in_order(self) -> Iterable[Source]:
        return [self._sources[key] for key in sorted(self._sources)]


def _symbol_file(pool: DescriptorPool, symbol: str) -> FileDescriptor:
    """The file with *symbol*: a service, a message, an enum, or a service's method, which pools keep apart."""
    try:
        return pool.FindFileContainingSymbol(symbol)
    except KeyError:
        return pool.FindFileContainingSymbol(pool.FindMethodByName(symbol).containing_service.full_name)


def _own_source() -> Source:
    """Reflection's own descriptors: v1alpha's as they are, v1's made from them, which no package brings."""
    older = FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(older)
    newer = FileDescriptorProto()
    text = text_format.MessageToString(older)
    text_format.Parse(text.replace("grpc.reflection.v1alpha", "grpc.reflection.v1"), newer)
    newer.name = older.name.replace("v1alpha", "v1")
    return Source.of_files(FileDescriptorSet(file=[older, newer]), SERVICES)


def _extension_file(pool: DescriptorPool, asked: reflection_pb2.ExtensionRequest) -> FileDescriptor:
    message = pool.FindMessageTypeByName(asked.containing_type)
    extension = pool.FindExtensionByNumber(message, asked.extension_number)
    return pool.FindFileContainingSymbol(extension.full_name)


def _collect(file: FileDescriptor, into: dict[str, bytes]) -> None:
    """*file* and all it imports, the file itself first."""
    if file.name in into:
        return
    proto = FileDescriptorProto()
    file.CopyToProto(proto)
    into[file.name] = proto.SerializeToString()
    for imported in file.dependencies:
        _collect(imported, into)


def _error(status: grpc.StatusCode) -> reflection_pb2.ServerReflectionResponse:
    number, text = status.value
    return reflection_pb2.ServerReflectionResponse(
        error_response=reflection_pb2.ErrorResponse(error_code=number, error_message=text)
    )
