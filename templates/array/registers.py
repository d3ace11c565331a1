"""Registers of the array `{{ map.array }}`: where every field is, and words of bitstreams made of fields.

>>> address, word = word("pe_0_1", "{{ first_register }}", {})
>>> fields("pe_0_1", "{{ first_register }}", word)
"""

from typing import NamedTuple

# The first words of bitstreams: tiles take writes after the digest of the specification, and a write clears all.
DIGEST_ADDRESS, DIGEST = 0x{{ "{:08x}"|format(map.digest_address) }}, 0x{{ &map.spec_digest[..8] }}
CLEAR_ADDRESS = 0x{{ "{:08x}"|format(map.clear_address) }}

# A write starts the columns that hold still, or stops all columns.
START_ADDRESS, STOP_ADDRESS = 0x{{ "{:08x}"|format(map.start_address) }}, 0x{{ "{:08x}"|format(map.stop_address) }}


class Field(NamedTuple):
    """Bits of a register. After a clear they are 0."""

    low: int
    bits: int

    def of(self, word: int) -> int:
        """The value of the field in a word."""
        return word >> self.low & (1 << self.bits) - 1


class Register(NamedTuple):
    """A register of 32 bits of a kind of tile."""

    feature: int
    number: int
    fields: dict[str, Field]

{% for tile in map.tiles %}
{{ self::upper(tile.kind) }} = {
{%- for register in tile.registers %}
    "{{ register.name }}": Register({{ register.feature }}, {{ register.number }}, {
{%- for field in register.fields %}
        "{{ field.name }}": Field({{ field.low }}, {{ field.bits }}),
{%- endfor %}
    }),
{%- endfor %}
{%- if tile.memory.is_some() %}
    # Those of the memory.
{%- for register in tile.memory_registers %}
    "memory.{{ register.name }}": Register({{ tile.memory_feature }}, {{ register.offset / pushmem_csr::WORD_BYTES }}, {
{%- for field in register.fields %}
        "{{ field.name }}": Field({{ field.low }}, {{ field.bits }}),
{%- endfor %}
    }),
{%- endfor %}
{%- endif %}
}
{% endfor %}
# The kinds of tiles by their numbers in addresses of all of them.
KINDS = { {%- for tile in map.tiles %}{{ tile.number }}: {{ self::upper(tile.kind) }}{% if !loop.last %}, {% endif %}{% endfor -%} }

# The tiles by their names: column, row and registers.
TILES = {
{%- for place in map.places %}
    "{{ place.name }}": ({{ place.column }}, {{ place.row }}, {{ self::upper(place.kind) }}),
{%- endfor %}
}


def address(tile: str, register: str) -> int:
    """The address of a register."""
    column, row, registers = TILES[tile]
    found = registers[register]
    return row << 24 | column << 16 | found.feature << 12 | found.number


def common_address(kind: dict[str, Register], register: str, column: int = 0xFF) -> int:
    """The address of a register of all tiles of a kind, in a column or in all: for writes alone."""
    number = next(number for number, registers in KINDS.items() if registers is kind)
    found = kind[register]
    if found.feature > {{ common_features - 1 }}:
        raise ValueError(f"feature {found.feature} has no address of all tiles: write {register} of each of them")
    return 0xFF << 24 | column << 16 | number << 14 | found.feature << 12 | found.number


def column_clear_address(column: int) -> int:
    """A write here clears a column, which then holds still to the end of the next flush or start."""
    return CLEAR_ADDRESS & 0xFF00FFFF | column << 16


def column_stop_address(column: int) -> int:
    """A write here stops a column: it holds still to the end of the next flush or start, with its configuration and its beats."""
    return STOP_ADDRESS & 0xFF00FFFF | column << 16


def word(tile: str, register: str, values: dict[str, int]) -> tuple[int, int]:
    """The address of a register, and the word with these values in its fields; the others are 0."""
    found = TILES[tile][2][register].fields
    if unknown := values.keys() - found.keys():
        raise KeyError(f"{register} has no field {sorted(unknown)[0]}")
    word = 0
    for name, value in values.items():
        if value >> found[name].bits:
            raise ValueError(f"{register}.{name} is 0 to {(1 << found[name].bits) - 1}, not {value}")
        word |= value << found[name].low
    return address(tile, register), word


def fields(tile: str, register: str, word: int) -> dict[str, int]:
    """The values of the fields in a word of a register."""
    return {name: field.of(word) for name, field in TILES[tile][2][register].fields.items()}
