/* Streams into the array and out of it, each a word wide, with a manager each. */
#define {{ prefix }}_READERS {{ description.array().tiles().readers }}u
#define {{ prefix }}_WRITERS {{ description.array().tiles().writers }}u

/* The most images of a program, their dimensions, and the strides of these: all but the first have one. */
#define {{ prefix }}_IMAGES ({{ prefix }}_READERS + {{ prefix }}_WRITERS)
#define {{ prefix }}_DIMENSIONS {{ ARRAY_DIMENSIONS }}u
#define {{ prefix }}_STRIDES ({{ prefix }}_DIMENSIONS - 1u)

/* Loops of a walk outside of a line. */
#define {{ prefix }}_LEVELS {{ description.array().tiles().levels }}u

{% include "driver/parts/results.h" %}

{% include "driver/parts/images.h" %}
/* A stream, by its number in its direction: the value of its register STREAM, which has its IO tile, its beats, and its walk through an image. Starts and steps are
 * elements in each dimension. */
struct {{ name }}_walk {
    uint32_t output;
    uint32_t number;
    uint32_t image;
    uint32_t stream;
    uint32_t beats;
    int32_t start[{{ prefix }}_DIMENSIONS];
    uint32_t last[{{ prefix }}_LEVELS];
    uint32_t size[{{ prefix }}_LEVELS + 1u];
    int32_t steps[{{ prefix }}_LEVELS][{{ prefix }}_DIMENSIONS];
};

/* A program: its bitstream, addresses and data, and its streams. */
struct {{ name }}_program {
    const char *name;
    uint32_t digest;
    uint32_t tail;
    uint32_t writes;
    const uint32_t (*bitstream)[2];
    uint32_t images;
    const struct {{ name }}_shape *image;
    uint32_t walks;
    const struct {{ name }}_walk *walk;
};

struct {{ name }} {
    struct {{ name }}_port port;
    const struct {{ name }}_program *program;
    unsigned jobs;   /* 0, 1 that runs, or 2 with the next one */
    uint32_t failed; /* of the last job that ended: the images that failed, and its cycles */
    uint32_t cycles;
};

/* Connects to the hardware, after a reset of it: whether it is that of this driver. */
int {{ name }}_open(struct {{ name }} *device, struct {{ name }}_port port);

/* Loads a program: after each reset, before its first job. The program must stay where it is. */
int {{ name }}_configure(struct {{ name }} *device, const struct {{ name }}_program *program);

/* An image of a program without gaps, at an address. */
struct {{ name }}_image {{ name }}_dense(const struct {{ name }}_program *program, unsigned image, uint64_t address);
