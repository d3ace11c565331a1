/* Registers of the memory tile `{{ map.tile }}`.
 * Byte offsets from the tile's base; positions and masks of fields within a 32-bit register.
 * An access to an address at which there is nothing changes nothing and reads 0. The tile answers it with an error: its output
 * config_error_o is high in the cycle after.
{%- if let Some(commit) = map.commit() %}
 *
 * These are shadow registers: they can be written while the tile runs. The next flush takes what they hold if {{ self::upper(commit.name) }} is
 * set, and clears it; otherwise the tile goes on with the configuration that it has.{% if map.contents.is_some() %} The contents have no shadow.{% endif %}
{%- endif %}
 */
{%- let prefix = self::upper(map.tile) %}
#ifndef PUSHMEM_{{ prefix }}_REGISTERS_H
#define PUSHMEM_{{ prefix }}_REGISTERS_H

/* A configuration is made for one specification: compare this with what the tile's register SPEC_DIGEST reads. */
#define {{ prefix }}_SPEC_DIGEST_VALUE 0x{{ &map.spec_digest[..8] }}u
#define {{ prefix }}_BYTES 0x{{ "{:x}"|format(map.bytes()) }}u
{%- for register in map.registers %}
{%- let name = self::upper(register.name) %}

/* {{ register.description }}{% if register.access == SoftwareAccess::ReadOnly %} Read only.{% endif %} */
#define {{ prefix }}_{{ name }}_OFFSET 0x{{ "{:03x}"|format(register.offset) }}u
{{ register.c_fields(prefix ~ "_" ~ name)|trim }}
{%- endfor %}
{%- if let Some(contents) = map.contents %}

/* The contents: {{ contents.rule() }}. */
#define {{ prefix }}_CONTENTS_OFFSET 0x{{ "{:x}"|format(contents.offset) }}u
#define {{ prefix }}_CONTENTS_WORDS {{ contents.words }}
#define {{ prefix }}_CONTENTS_BYTES_PER_WORD {{ contents.registers_per_word * WORD_BYTES }}
{%- endif %}

#endif
