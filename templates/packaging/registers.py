"""Registers of {{ design.top }}: where every field is, and words made of fields.

>>> registers = BLOCKS["{{ design.blocks[0].name }}"]
>>> address, word = registers.word("control", {})
"""

from typing import NamedTuple


class Field(NamedTuple):
    """Bits of a register."""

    low: int
    bits: int
    reset: int

    def of(self, word: int) -> int:
        """The value of the field in a word."""
        return word >> self.low & (1 << self.bits) - 1


class Register(NamedTuple):
    """A register of 32 bits."""

    offset: int
    writable: bool
    fields: dict[str, Field]


class Block(NamedTuple):
    """The registers of a tile, or of a shell."""

    base: int
    digest: str
    registers: dict[str, Register]

    def word(self, register: str, values: dict[str, int]) -> tuple[int, int]:
        """The address of a register, and the word with these values in its fields; the others are as after reset."""
        found = self.registers[register]
        if unknown := values.keys() - found.fields.keys():
            raise KeyError(f"{register} has no field {sorted(unknown)[0]}")
        word = 0
        for name, field in found.fields.items():
            value = values.get(name, field.reset)
            if value >> field.bits:
                raise ValueError(f"{register}.{name} has {field.bits} bits; {value} does not fit")
            word |= value << field.low
        return self.base + found.offset, word

    def fields(self, register: str, word: int) -> dict[str, int]:
        """The values of the fields in a word of a register."""
        return {name: field.of(word) for name, field in self.registers[register].fields.items()}

{% for kind in kinds %}
{{ kind.kind.to_uppercase() }} = {
{%- for register in kind.registers %}
    "{{ register.name }}": Register(0x{{ "{:03x}"|format(register.offset) }}, {% if register.access == SoftwareAccess::ReadOnly %}False{% else %}True{% endif %}, {
{%- for field in register.fields %}
        "{{ field.name }}": Field({{ field.low }}, {{ field.bits }}, 0x{{ "{:x}"|format(field.reset) }}),
{%- endfor %}
    }),
{%- endfor %}
}
{% endfor %}
# The blocks by their names.
BLOCKS = {
{%- for block in design.blocks %}
    "{{ block.name }}": Block(0x{{ "{:x}"|format(block.base) }}, "{{ block.digest }}", {{ block.kind.to_uppercase() }}),
{%- endfor %}
}
