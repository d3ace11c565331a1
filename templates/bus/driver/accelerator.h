/* The images, by their numbers in a job. */
enum {
{%- for image in shell.images %}
    {{ prefix }}_{{ self::upper(image.name) }} = {{ image.number }},
{%- endfor %}
    {{ prefix }}_IMAGES = {{ shell.images.len() }}
};

/* The most dimensions of an image, and strides: all dimensions but the first have one. */
#define {{ prefix }}_DIMENSIONS {{ description.dimensions() }}
#define {{ prefix }}_STRIDES {{ description.strides() }}

{% include "driver/parts/results.h" %}

/* An image: the byte address of its first element as the accelerator sees it, the bytes of memory from there on, and the bytes from an
 * element of each dimension but the first to the next. With a negative stride memory before the address is used, too. Of an image with
 * elements of 16 bits all are even. */
struct {{ name }}_image {
    uint64_t address;
    uint64_t bytes;
    int32_t stride[{{ prefix }}_STRIDES];
};

struct {{ name }}_job {
    struct {{ name }}_image image[{{ prefix }}_IMAGES];
};

struct {{ name }} {
    struct {{ name }}_port port;
    unsigned jobs;   /* 0, 1 that runs, or 2 with the next one */
    uint32_t failed; /* of the last job that ended: the images that failed, and its cycles */
    uint32_t cycles;
};

/* Elements of an image in each dimension, innermost first, how many dimensions it has, and the bytes of an element. */
extern const uint32_t {{ name }}_shape[{{ prefix }}_IMAGES][{{ prefix }}_DIMENSIONS];
extern const uint32_t {{ name }}_dimensions[{{ prefix }}_IMAGES];
extern const uint32_t {{ name }}_element_bytes[{{ prefix }}_IMAGES];

/* Connects to the hardware, after a reset of it: whether it is that of this driver. */
int {{ name }}_open(struct {{ name }} *device, struct {{ name }}_port port);

/* Writes the configuration: after each reset, before the first job. */
int {{ name }}_configure(struct {{ name }} *device);

/* An image without gaps at an address. */
struct {{ name }}_image {{ name }}_dense(unsigned image, uint64_t address);
