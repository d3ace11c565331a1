{%- let name = plan.driver -%}
{%- let stem = plan.stem -%}
/* A large image in {{ plan.tiling.count() }} tiles, each a job of the driver.
 *
 * Tiles are those of the output, each as large as that of the program. The last one along an axis overlaps the one before it, and both
 * write the same words there. Inputs have a border where the program reads beyond the output.
 */
#ifndef PUSHMEM_{{ self::upper(stem) }}_TILES_H
#define PUSHMEM_{{ self::upper(stem) }}_TILES_H

#include "{{ plan.header }}"

#define {{ self::upper(stem) }}_TILES {{ plan.tiling.count() }}u

/* Elements of the whole images in each dimension, innermost first, by their numbers in a job. */
extern const uint32_t {{ stem }}_whole_shape[{{ plan.tiling.images.len() }}][{{ self::upper(name) }}_DIMENSIONS];

/* A whole image without gaps, at an address. */
struct {{ name }}_image {{ stem }}_whole(unsigned image, uint64_t address);

/* The job of a tile, by its number, of whole images. */
struct {{ name }}_job {{ stem }}_tile(unsigned tile, const struct {{ name }}_job *whole);

/* Runs the jobs of all tiles, two at a time: the first result that is not {{ self::upper(name) }}_OK. `timeout` is that of a job. */
int {{ stem }}_run_tiles(struct {{ name }} *device, const struct {{ name }}_job *whole, uint32_t timeout);

#endif
