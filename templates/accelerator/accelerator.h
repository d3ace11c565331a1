/* Accelerator `{{ name }}`: how to configure it, and what its streams carry.
 *
 * Between reset and the first run, write the registers of the memory tiles{% if writes == 0 %}: there are none{% else %}: {{ lower }}_configure() does{% endif %}. Then start runs.
 */
#ifndef PUSHMEM_{{ upper }}_ACCELERATOR_H
#define PUSHMEM_{{ upper }}_ACCELERATOR_H

#include <stddef.h>
#include <stdint.h>

/* Cycles of a run in which no stream stalls. */
#define {{ upper }}_RUN_CYCLES {{ run_cycles }}
{%- for stream in streams %}

/* {{ stream.title }} */
#define {{ stream.upper }}_STREAM {{ stream.number }}
#define {{ stream.upper }}_LANES {{ stream.lanes }}
#define {{ stream.upper }}_BEATS {{ stream.beats }}
#define {{ stream.upper }}_WORDS {{ stream.lanes as u64 * stream.beats }}

/* Which element of the array, in order of memory, is in a beat and lane. */
static inline size_t {{ stream.lower }}_element(size_t beat, size_t lane)
{
    static const int32_t start[{{ stream.lanes }}] = {{ "{" }}{{ stream.starts }}};
{%- for level in stream.loops %}
    static const int32_t stride_{{ loop.index0 }}[{{ stream.lanes }}] = {{ "{" }}{{ level.strides }}}; /* {{ level.name }} */
{%- endfor %}
    int32_t element = start[lane];
{%- for level in stream.loops %}
    element += stride_{{ loop.index0 }}[lane] * (int32_t)(beat % {{ level.extent }}u);
{%- if !loop.last %}
    beat /= {{ level.extent }}u;
{%- endif %}
{%- endfor %}
{%- if stream.loops.is_empty() %}
    (void)beat;
{%- endif %}
    return (size_t)element;
}
{%- endfor %}
{%- if writes > 0 %}

/* Registers of the memory tiles, {{ bytes }} bytes for each tile. */
#define {{ upper }}_TILES {{ tiles.len() }}
#define {{ upper }}_TILE_BYTES {{ bytes }}
#define {{ upper }}_WRITES {{ writes }}

struct {{ lower }}_write {
    uint32_t address;
    uint32_t data;
};

static const struct {{ lower }}_write {{ lower }}_writes[{{ upper }}_WRITES] = {
{%- for tile in tiles %}
    /* {{ tile.name }} */
{%- for line in tile.lines %}
    {{ line }}
{%- endfor %}
{%- endfor %}
};

/* Calls `write` for each register write, in order. `context` is handed on. */
static inline void {{ lower }}_configure(void (*write)(void *context, uint32_t address, uint32_t data), void *context)
{
    size_t place;
    for (place = 0; place < {{ upper }}_WRITES; ++place) {
        write(context, {{ lower }}_writes[place].address, {{ lower }}_writes[place].data);
    }
}
{%- endif %}
{%- if !self_tested.is_empty() %}

/* Memories with a self-test, and words of 32 bits for a row of any. */
#define {{ upper }}_SELF_TESTED {{ self_tested.len() }}
#define {{ upper }}_ROW_WORDS {{ row_words }}
static const char *const {{ lower }}_self_tested[{{ upper }}_SELF_TESTED] = {
{%- for name in self_tested %}
    "{{ name }}",
{%- endfor %}
};
{%- endif %}

#endif
