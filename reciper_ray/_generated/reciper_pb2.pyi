from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Abstention(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ABSTENTION_NONE: _ClassVar[Abstention]
    ABSTENTION_NOTHING_RELEVANT: _ClassVar[Abstention]
    ABSTENTION_NOT_REPORTED: _ClassVar[Abstention]
    ABSTENTION_CONFLICT: _ClassVar[Abstention]
ABSTENTION_NONE: Abstention
ABSTENTION_NOTHING_RELEVANT: Abstention
ABSTENTION_NOT_REPORTED: Abstention
ABSTENTION_CONFLICT: Abstention

class Span(_message.Message):
    __slots__ = ("start", "end")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class Original(_message.Message):
    __slots__ = ("start", "end", "text")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    text: str
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class Filters(_message.Message):
    __slots__ = ("paper_ids", "year_from", "year_to")
    PAPER_IDS_FIELD_NUMBER: _ClassVar[int]
    YEAR_FROM_FIELD_NUMBER: _ClassVar[int]
    YEAR_TO_FIELD_NUMBER: _ClassVar[int]
    paper_ids: _containers.RepeatedScalarFieldContainer[str]
    year_from: int
    year_to: int
    def __init__(self, paper_ids: _Optional[_Iterable[str]] = ..., year_from: _Optional[int] = ..., year_to: _Optional[int] = ...) -> None: ...

class SearchRequest(_message.Message):
    __slots__ = ("question", "method", "k", "views", "filters", "timeout_ms", "min_coverage")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    K_FIELD_NUMBER: _ClassVar[int]
    VIEWS_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    MIN_COVERAGE_FIELD_NUMBER: _ClassVar[int]
    question: str
    method: str
    k: int
    views: _containers.RepeatedScalarFieldContainer[str]
    filters: Filters
    timeout_ms: int
    min_coverage: float
    def __init__(self, question: _Optional[str] = ..., method: _Optional[str] = ..., k: _Optional[int] = ..., views: _Optional[_Iterable[str]] = ..., filters: _Optional[_Union[Filters, _Mapping]] = ..., timeout_ms: _Optional[int] = ..., min_coverage: _Optional[float] = ...) -> None: ...

class Passage(_message.Message):
    __slots__ = ("passage_id", "paper_id", "view", "title", "heading", "text", "support", "spans", "kind", "year", "ordinal", "originals", "page", "last_page")
    PASSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    PAPER_ID_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    HEADING_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    YEAR_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    ORIGINALS_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    LAST_PAGE_FIELD_NUMBER: _ClassVar[int]
    passage_id: str
    paper_id: str
    view: str
    title: str
    heading: str
    text: str
    support: str
    spans: _containers.RepeatedCompositeFieldContainer[Span]
    kind: str
    year: int
    ordinal: int
    originals: _containers.RepeatedCompositeFieldContainer[Original]
    page: int
    last_page: int
    def __init__(self, passage_id: _Optional[str] = ..., paper_id: _Optional[str] = ..., view: _Optional[str] = ..., title: _Optional[str] = ..., heading: _Optional[str] = ..., text: _Optional[str] = ..., support: _Optional[str] = ..., spans: _Optional[_Iterable[_Union[Span, _Mapping]]] = ..., kind: _Optional[str] = ..., year: _Optional[int] = ..., ordinal: _Optional[int] = ..., originals: _Optional[_Iterable[_Union[Original, _Mapping]]] = ..., page: _Optional[int] = ..., last_page: _Optional[int] = ...) -> None: ...

class Hit(_message.Message):
    __slots__ = ("passage", "score", "rank", "parts", "terms")
    class PartsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    class TermsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    PASSAGE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    TERMS_FIELD_NUMBER: _ClassVar[int]
    passage: Passage
    score: float
    rank: int
    parts: _containers.ScalarMap[str, float]
    terms: _containers.ScalarMap[str, float]
    def __init__(self, passage: _Optional[_Union[Passage, _Mapping]] = ..., score: _Optional[float] = ..., rank: _Optional[int] = ..., parts: _Optional[_Mapping[str, float]] = ..., terms: _Optional[_Mapping[str, float]] = ...) -> None: ...

class Coverage(_message.Message):
    __slots__ = ("view", "shards", "answered", "errors")
    class ErrorsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: str
        def __init__(self, key: _Optional[int] = ..., value: _Optional[str] = ...) -> None: ...
    VIEW_FIELD_NUMBER: _ClassVar[int]
    SHARDS_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    view: str
    shards: int
    answered: _containers.RepeatedScalarFieldContainer[int]
    errors: _containers.ScalarMap[int, str]
    def __init__(self, view: _Optional[str] = ..., shards: _Optional[int] = ..., answered: _Optional[_Iterable[int]] = ..., errors: _Optional[_Mapping[int, str]] = ...) -> None: ...

class Served(_message.Message):
    __slots__ = ("snapshot_id", "stage_ms", "coverage")
    class StageMsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_MS_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    stage_ms: _containers.ScalarMap[str, float]
    coverage: _containers.RepeatedCompositeFieldContainer[Coverage]
    def __init__(self, snapshot_id: _Optional[str] = ..., stage_ms: _Optional[_Mapping[str, float]] = ..., coverage: _Optional[_Iterable[_Union[Coverage, _Mapping]]] = ...) -> None: ...

class SearchReply(_message.Message):
    __slots__ = ("hits", "served")
    HITS_FIELD_NUMBER: _ClassVar[int]
    SERVED_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[Hit]
    served: Served
    def __init__(self, hits: _Optional[_Iterable[_Union[Hit, _Mapping]]] = ..., served: _Optional[_Union[Served, _Mapping]] = ...) -> None: ...

class AnswerRequest(_message.Message):
    __slots__ = ("search",)
    SEARCH_FIELD_NUMBER: _ClassVar[int]
    search: SearchRequest
    def __init__(self, search: _Optional[_Union[SearchRequest, _Mapping]] = ...) -> None: ...

class Citation(_message.Message):
    __slots__ = ("number", "paper_id", "passage_id", "title", "quote", "span", "original", "page", "last_page")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    PAPER_ID_FIELD_NUMBER: _ClassVar[int]
    PASSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    QUOTE_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    LAST_PAGE_FIELD_NUMBER: _ClassVar[int]
    number: int
    paper_id: str
    passage_id: str
    title: str
    quote: str
    span: Span
    original: str
    page: int
    last_page: int
    def __init__(self, number: _Optional[int] = ..., paper_id: _Optional[str] = ..., passage_id: _Optional[str] = ..., title: _Optional[str] = ..., quote: _Optional[str] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., original: _Optional[str] = ..., page: _Optional[int] = ..., last_page: _Optional[int] = ...) -> None: ...

class CompleteAnswer(_message.Message):
    __slots__ = ("text", "abstained", "citations", "evidence", "abstention", "answerer", "fallback", "unsupported")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ABSTAINED_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    ABSTENTION_FIELD_NUMBER: _ClassVar[int]
    ANSWERER_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_FIELD_NUMBER: _ClassVar[int]
    UNSUPPORTED_FIELD_NUMBER: _ClassVar[int]
    text: str
    abstained: bool
    citations: _containers.RepeatedCompositeFieldContainer[Citation]
    evidence: _containers.RepeatedCompositeFieldContainer[Hit]
    abstention: Abstention
    answerer: str
    fallback: str
    unsupported: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, text: _Optional[str] = ..., abstained: _Optional[bool] = ..., citations: _Optional[_Iterable[_Union[Citation, _Mapping]]] = ..., evidence: _Optional[_Iterable[_Union[Hit, _Mapping]]] = ..., abstention: _Optional[_Union[Abstention, str]] = ..., answerer: _Optional[str] = ..., fallback: _Optional[str] = ..., unsupported: _Optional[_Iterable[str]] = ...) -> None: ...

class AnswerReply(_message.Message):
    __slots__ = ("token", "answer", "served")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    SERVED_FIELD_NUMBER: _ClassVar[int]
    token: str
    answer: CompleteAnswer
    served: Served
    def __init__(self, token: _Optional[str] = ..., answer: _Optional[_Union[CompleteAnswer, _Mapping]] = ..., served: _Optional[_Union[Served, _Mapping]] = ...) -> None: ...

class GetPaperRequest(_message.Message):
    __slots__ = ("paper_id", "timeout_ms")
    PAPER_ID_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    paper_id: str
    timeout_ms: int
    def __init__(self, paper_id: _Optional[str] = ..., timeout_ms: _Optional[int] = ...) -> None: ...

class Step(_message.Message):
    __slots__ = ("operation", "temperature", "time", "atmosphere", "span", "materials", "conditions")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    ATMOSPHERE_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    MATERIALS_FIELD_NUMBER: _ClassVar[int]
    CONDITIONS_FIELD_NUMBER: _ClassVar[int]
    operation: str
    temperature: str
    time: str
    atmosphere: str
    span: Span
    materials: _containers.RepeatedScalarFieldContainer[str]
    conditions: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, operation: _Optional[str] = ..., temperature: _Optional[str] = ..., time: _Optional[str] = ..., atmosphere: _Optional[str] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., materials: _Optional[_Iterable[str]] = ..., conditions: _Optional[_Iterable[str]] = ...) -> None: ...

class Recipe(_message.Message):
    __slots__ = ("material", "method", "precursors", "steps", "extractor", "key_points", "read", "dropped", "fallback")
    MATERIAL_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PRECURSORS_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    EXTRACTOR_FIELD_NUMBER: _ClassVar[int]
    KEY_POINTS_FIELD_NUMBER: _ClassVar[int]
    READ_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_FIELD_NUMBER: _ClassVar[int]
    material: str
    method: str
    precursors: _containers.RepeatedScalarFieldContainer[str]
    steps: _containers.RepeatedCompositeFieldContainer[Step]
    extractor: str
    key_points: _containers.RepeatedScalarFieldContainer[str]
    read: _containers.RepeatedCompositeFieldContainer[Span]
    dropped: _containers.RepeatedScalarFieldContainer[str]
    fallback: str
    def __init__(self, material: _Optional[str] = ..., method: _Optional[str] = ..., precursors: _Optional[_Iterable[str]] = ..., steps: _Optional[_Iterable[_Union[Step, _Mapping]]] = ..., extractor: _Optional[str] = ..., key_points: _Optional[_Iterable[str]] = ..., read: _Optional[_Iterable[_Union[Span, _Mapping]]] = ..., dropped: _Optional[_Iterable[str]] = ..., fallback: _Optional[str] = ...) -> None: ...

class GetPaperReply(_message.Message):
    __slots__ = ("paper_id", "title", "text", "source", "doi", "year", "licence", "recipes", "passages", "served", "originals")
    PAPER_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    DOI_FIELD_NUMBER: _ClassVar[int]
    YEAR_FIELD_NUMBER: _ClassVar[int]
    LICENCE_FIELD_NUMBER: _ClassVar[int]
    RECIPES_FIELD_NUMBER: _ClassVar[int]
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    SERVED_FIELD_NUMBER: _ClassVar[int]
    ORIGINALS_FIELD_NUMBER: _ClassVar[int]
    paper_id: str
    title: str
    text: str
    source: str
    doi: str
    year: int
    licence: str
    recipes: _containers.RepeatedCompositeFieldContainer[Recipe]
    passages: _containers.RepeatedCompositeFieldContainer[Passage]
    served: Served
    originals: _containers.RepeatedCompositeFieldContainer[Original]
    def __init__(self, paper_id: _Optional[str] = ..., title: _Optional[str] = ..., text: _Optional[str] = ..., source: _Optional[str] = ..., doi: _Optional[str] = ..., year: _Optional[int] = ..., licence: _Optional[str] = ..., recipes: _Optional[_Iterable[_Union[Recipe, _Mapping]]] = ..., passages: _Optional[_Iterable[_Union[Passage, _Mapping]]] = ..., served: _Optional[_Union[Served, _Mapping]] = ..., originals: _Optional[_Iterable[_Union[Original, _Mapping]]] = ...) -> None: ...

class InfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class InfoReply(_message.Message):
    __slots__ = ("version", "encoder", "dimension", "papers", "passages", "methods", "limits", "served")
    class PassagesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class LimitsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    VERSION_FIELD_NUMBER: _ClassVar[int]
    ENCODER_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    PAPERS_FIELD_NUMBER: _ClassVar[int]
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    METHODS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    SERVED_FIELD_NUMBER: _ClassVar[int]
    version: str
    encoder: str
    dimension: int
    papers: int
    passages: _containers.ScalarMap[str, int]
    methods: _containers.RepeatedScalarFieldContainer[str]
    limits: _containers.ScalarMap[str, int]
    served: Served
    def __init__(self, version: _Optional[str] = ..., encoder: _Optional[str] = ..., dimension: _Optional[int] = ..., papers: _Optional[int] = ..., passages: _Optional[_Mapping[str, int]] = ..., methods: _Optional[_Iterable[str]] = ..., limits: _Optional[_Mapping[str, int]] = ..., served: _Optional[_Union[Served, _Mapping]] = ...) -> None: ...
