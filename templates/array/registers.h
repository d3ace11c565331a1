/* Configuration registers of the array `{{ map.array }}`: 32 bits each, at addresses of place, feature and register.
 * A bitstream writes the digest, clears the array, and writes the registers that are not 0.
 */
{%- let prefix = self::upper(map.array) %}
#ifndef PUSHMEM_{{ prefix }}_ARRAY_H
#define PUSHMEM_{{ prefix }}_ARRAY_H

#include <stdint.h>

/* Tiles take writes after this digest of the specification was written. */
#define {{ prefix }}_ARRAY_DIGEST_ADDRESS 0x{{ "{:08x}"|format(map.digest_address) }}u
#define {{ prefix }}_ARRAY_DIGEST 0x{{ &map.spec_digest[..8] }}u
/* A write clears the configuration of all tiles. */
#define {{ prefix }}_ARRAY_CLEAR_ADDRESS 0x{{ "{:08x}"|format(map.clear_address) }}u
/* The same for a column, which then holds still. */
#define {{ prefix }}_ARRAY_COLUMN_CLEAR_ADDRESS(column) (0xff{{ "{:06x}"|format(CLEAR.register) }}u | (uint32_t)(column) << 16)
/* A write stops a column: it holds still, with its configuration and its beats. */
#define {{ prefix }}_ARRAY_COLUMN_STOP_ADDRESS(column) (0xff{{ "{:06x}"|format(STOP.register) }}u | (uint32_t)(column) << 16)
/* A write starts the columns that hold still, and no others; a flush starts all. */
#define {{ prefix }}_ARRAY_START_ADDRESS 0x{{ "{:08x}"|format(map.start_address) }}u

/* The address of a register of all tiles of a kind in a column, or with 0xff in all columns: for writes alone. */
#define {{ prefix }}_ARRAY_COMMON_ADDRESS(column, kind, feature, number) \
    (0xff000000u | (uint32_t)(column) << 16 | (uint32_t)(kind) << 14 | (uint32_t)(feature) << 12 | (uint32_t)(number))
{%- for tile in map.tiles %}
#define {{ prefix }}_ARRAY_{{ self::upper(tile.kind) }} {{ tile.number }}
{%- endfor %}

/* The address of a register of a tile. Row 0 is that of IO tiles. */
#define {{ prefix }}_ARRAY_ADDRESS(column, row, feature, number) \
    ((uint32_t)(row) << 24 | (uint32_t)(column) << 16 | (uint32_t)(feature) << 12 | (uint32_t)(number))
#define {{ prefix }}_ARRAY_COLUMNS {{ map.columns }}
#define {{ prefix }}_ARRAY_ROWS {{ map.rows }}
{%- for tile in map.tiles %}
{%- if let Some(memory) = tile.memory %}

/* {{ tile.name }} tiles, feature {{ tile.memory_feature }}: the registers of the memory tile `{{ memory }}`, see its own header: their number is a quarter of their offset. */
{%- endif %}
{%- for register in tile.registers %}
{%- let name = self::upper(register.name) %}

/* {{ tile.name }} tiles: {{ register.name }}. */
#define {{ prefix }}_{{ self::upper(tile.kind) }}_{{ name }}_FEATURE {{ register.feature }}
#define {{ prefix }}_{{ self::upper(tile.kind) }}_{{ name }}_NUMBER {{ register.number }}
{{ register.register().c_fields(prefix ~ "_" ~ self::upper(tile.kind))|trim }}
{%- endfor %}
{%- endfor %}

#endif
