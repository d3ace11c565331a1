/* The most images of a program, their dimensions, and the strides of these: all but the first have one. */
#define {{ prefix }}_IMAGES (2u * {{ self::upper(description.array().name) }}_BANKS)
#define {{ prefix }}_DIMENSIONS {{ ARRAY_DIMENSIONS }}u
#define {{ prefix }}_STRIDES ({{ prefix }}_DIMENSIONS - 1u)

/* Loops of the elements that a bank stores. */
#define {{ prefix }}_LEVELS {{ BANK_LEVELS }}u

{% include "driver/parts/results.h" %}

{% include "driver/parts/images.h" %}

/* An image in a bank: the word of a half at which it begins. Of an output in several banks each has a part: the elements that it stores, from `start` on,
 * in so many loops; without loops it has all. */
struct {{ name }}_place {
    uint32_t image;
    uint32_t bank;
    uint32_t first_word;
    uint32_t loops;
    int32_t start;
    uint32_t extent[{{ prefix }}_LEVELS];
    int32_t stride[{{ prefix }}_LEVELS];
};

/* A program: cycles that a run goes on after its last word, its bitstream as words and as rows of the banks, its images, and their places. */
struct {{ name }}_program {
    const char *name;
    uint32_t tail;
    struct {{ description.rows().functions }}_program configuration;
    uint32_t images;
    const struct {{ name }}_shape *image;
    uint32_t places;
    const struct {{ name }}_place *place;
};

struct {{ name }} {
    struct {{ name }}_port port;
    struct {{ description.rows().functions }} configuration;
    const struct {{ name }}_program *program;
    unsigned jobs;            /* 0, 1 that runs, or 2 with the next one */
    unsigned half;            /* of the next job */
    uint32_t runs;            /* that were over when a job was taken */
    uint32_t cycles;          /* of the last job that ended */
    struct {{ name }}_job job[2]; /* by their halves */
};

/* Connects to the hardware: whether it is that of this driver. The device must stay where it is. */
int {{ name }}_open(struct {{ name }} *device, struct {{ name }}_port port);

/* Loads a program word by word: after each reset, before its first job. The program must stay where it is. */
int {{ name }}_configure(struct {{ name }} *device, const struct {{ name }}_program *program);

/* Writes the rows of a program to a half of the banks, from a row on; row 0 follows the last one. Another program may run meanwhile, but the half must be
 * the host's. */
int {{ name }}_store(struct {{ name }} *device, const struct {{ name }}_program *program, unsigned half, uint32_t row);

/* Loads a program that was stored there, all banks at a time, and waits for the end, for so many ticks, or polls where there are no ticks. */
int {{ name }}_load(struct {{ name }} *device, const struct {{ name }}_program *program, unsigned half, uint32_t row, uint32_t timeout);

/* An image of a program without gaps, at an address. */
struct {{ name }}_image {{ name }}_dense(const struct {{ name }}_program *program, unsigned image, uint64_t address);

/* The byte address at which an image is in the banks, for callers that move it themselves: all its elements one after the other, a word each. The half of
 * the next job is `device->half`, and that of the oldest one is the other if there is one job, the same if there are two. */
uint32_t {{ name }}_address(const struct {{ name }}_place *place, unsigned half);
