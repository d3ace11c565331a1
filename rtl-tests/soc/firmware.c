/* Runs the images of testbenches through the driver, on the processor of a SoC, without an operating system: two jobs at a time, with
 * gaps between lines, and the interrupt at the end of each. Then what goes wrong. It is compiled for each hardware of the SoC. */
#include "firmware.h"

/* Elements between lines, and their contents. */
#define GAP 3u
#define FILLER 0xa5u
/* Ticks after which a job should be over, by far: the cycles of the run and of the bus, which moves a beat in some cycles. */
#define TIMEOUT(test) (100u * (test)->cycles + 100000u)

static volatile unsigned interrupts;
static int failures;

static void put(char letter)
{
    while (*(volatile uint32_t *)CSR_UART_TXFULL_ADDR != 0) {
    }
    *(volatile uint32_t *)CSR_UART_RXTX_ADDR = (unsigned char)letter;
}

void say(const char *text)
{
    while (*text != '\0') {
        put(*text++);
    }
}

static void say_number(uint32_t number)
{
    if (number >= 10) {
        say_number(number / 10);
    }
    put((char)('0' + number % 10));
}

static void expect(const char *what, int result, int expected)
{
    if (result != expected) {
        say(what);
        say(": ");
        say(DRIVER(text)(result));
        say("; expected: ");
        say(DRIVER(text)(expected));
        say("\n");
        ++failures;
    }
}

static void expect_that(const char *what, int is)
{
    if (!is) {
        say(what);
        say("\n");
        ++failures;
    }
}

/* The processor's mask of interrupts, of which that of the hardware is the only one in use. */
static void allow_interrupt(int allow)
{
    const uint32_t mask = allow ? 1u << HARDWARE_INTERRUPT : 0u;
    __asm__ volatile("csrw 0xbc0, %0" : : "r"(mask));
}

/* The level goes down when the job's end is polled; until then the interrupt is masked. */
void take_interrupt(void)
{
    allow_interrupt(0);
    ++interrupts;
}

static void wait_for_interrupt(void *context)
{
    const unsigned seen = interrupts;
    unsigned waited;
    (void)context;
    for (waited = 0; waited < 1000 && interrupts == seen; ++waited) {
        __asm__ volatile("nop");
    }
}

static uint32_t ticks(void *context)
{
    (void)context;
    *(volatile uint32_t *)CSR_TIMER0_UPDATE_VALUE_ADDR = 1;
    return ~*(volatile uint32_t *)CSR_TIMER0_VALUE_ADDR;
}

/* The processor's cache of data, which writes through, forgets what the hardware has written to memory. */
static void forget_data(void)
{
    __asm__ volatile(".word 0x500f\nnop\nnop\nnop\nnop\nnop" : : : "memory");
}

/* The place of an element of an image in memory. */
static volatile uint8_t *place(const struct test *test, unsigned number, const struct DRIVER_IMAGE *image, size_t element)
{
    int64_t offset = 0;
    uint32_t dimension;
    for (dimension = 0; dimension < test->dimensions[number]; ++dimension) {
        const uint32_t size = test->shape[number][dimension];
        offset += (int64_t)(element % size) * (dimension == 0 ? (int32_t)test->element_bytes[number] : image->stride[dimension - 1]);
        element /= size;
    }
    return (volatile uint8_t *)(uintptr_t)(image->address + (uint64_t)offset);
}

/* Places the images of a job one after another, with gaps; returns the end. */
static uint32_t place_job(const struct test *test, struct DRIVER_JOB *job, uint32_t address)
{
    unsigned number;
    for (number = 0; number < test->images; ++number) {
        const uint32_t element = test->element_bytes[number];
        struct DRIVER_IMAGE image;
        uint32_t bytes = element * test->shape[number][0];
        uint32_t dimension;
        /* An element after the next even address, which is an odd one for bytes. */
        address += address % 2u + element;
        image = dense(test, number, address);
        for (dimension = 1; dimension < test->dimensions[number]; ++dimension) {
            image.stride[dimension - 1] = (int32_t)(bytes + GAP * element);
            bytes = (bytes + GAP * element) * test->shape[number][dimension];
        }
        image.bytes = bytes;
        job->image[number] = image;
        address += bytes + GAP * element;
    }
    return (address + 3u) & ~3u;
}

/* Takes or compares a word, of so many bytes: whether it is another one. */
static uint32_t take_word(volatile uint8_t *at, uint32_t bytes, uint32_t word, int output)
{
    uint32_t differs = 0;
    uint32_t byte;
    for (byte = 0; byte < bytes; ++byte) {
        differs |= output && at[byte] != (uint8_t)(word >> 8 * byte);
        at[byte] = output ? FILLER : (uint8_t)(word >> 8 * byte);
    }
    return differs;
}

/* Stores the inputs of a job, or compares its outputs and fills them again: words that differ. */
static uint32_t for_words(const struct test *test, const struct DRIVER_JOB *job, int outputs)
{
    uint32_t wrong = 0;
    unsigned number;
    for (number = 0; number < test->images; ++number) {
        const struct words *words = &test->words[number];
        size_t word;
        for (word = 0; words->output == outputs && word < words->beats * words->lanes; ++word) {
            const size_t element = words->element(word / words->lanes, word % words->lanes);
            volatile uint8_t *at = place(test, words->image, &job->image[words->image], element);
            wrong += take_word(at, test->element_bytes[words->image], words->words[word], outputs);
        }
    }
    return wrong;
}

/* Bytes of the memory of outputs that are not as they were filled. */
static uint32_t disturbed(const struct test *test, const struct DRIVER_JOB *job)
{
    uint32_t found = 0;
    unsigned number;
    for (number = 0; number < test->images; ++number) {
        const struct words *words = &test->words[number];
        const uint32_t element = test->element_bytes[words->image];
        const volatile uint8_t *bytes = (const volatile uint8_t *)(uintptr_t)job->image[words->image].address - element;
        const size_t count = (size_t)job->image[words->image].bytes + GAP * element;
        size_t at;
        for (at = 0; words->output && at < count; ++at) {
            found += bytes[at] != FILLER;
        }
    }
    return found;
}

static void end_of_job(DEVICE *device, const struct test *test)
{
    const unsigned before = interrupts;
    allow_interrupt(1);
    expect("a job", DRIVER(wait)(device, TIMEOUT(test)), CODE(OK));
    expect_that("there was no interrupt", interrupts != before);
}

static void run_jobs(DEVICE *device, const struct test *test)
{
    struct DRIVER_JOB jobs[2];
    uint32_t end = place_job(test, &jobs[1], place_job(test, &jobs[0], MAIN_RAM_BASE));
    uint32_t begin;
    uint32_t took;
    uint32_t wrong;
    uint32_t at;
    expect_that("the memory is too small", end - MAIN_RAM_BASE <= MAIN_RAM_SIZE);
    for (at = MAIN_RAM_BASE; at < end; at += 4) {
        *(volatile uint32_t *)(uintptr_t)at = FILLER * 0x01010101u;
    }
    for_words(test, &jobs[0], 0);
    for_words(test, &jobs[1], 0);
    begin = ticks(NULL);
    expect("the first job", DRIVER(submit)(device, &jobs[0]), CODE(OK));
    expect("the next job", DRIVER(submit)(device, &jobs[1]), CODE(OK));
    expect("a third job", DRIVER(submit)(device, &jobs[0]), CODE(BUSY));
    end_of_job(device, test);
    end_of_job(device, test);
    took = ticks(NULL) - begin;
    forget_data();
    wrong = for_words(test, &jobs[0], 1) + for_words(test, &jobs[1], 1);
    expect("no job", DRIVER(poll)(device), CODE(NO_JOB));
    say(test->name);
    say(": ");
    say_number(wrong);
    say(" words wrong, ");
    say_number(disturbed(test, &jobs[0]) + disturbed(test, &jobs[1]));
    say(" bytes disturbed, a run in ");
    say_number(DRIVER(cycles)(device));
    say(" cycles, two jobs in ");
    say_number(took);
    say("\n");
    failures += wrong != 0 || disturbed(test, &jobs[0]) + disturbed(test, &jobs[1]) != 0;
}

static void refused_jobs(DEVICE *device, const struct test *test)
{
    struct DRIVER_JOB job;
    unsigned number;
    for (number = 0; number < test->images; ++number) {
        place_job(test, &job, MAIN_RAM_BASE);
        ++job.image[number].address;
        if (test->element_bytes[number] > 1) {
            expect("an odd address", DRIVER(submit)(device, &job), CODE(MISALIGNED));
        }
    }
    place_job(test, &job, MAIN_RAM_BASE);
    job.image[0].bytes = 0;
    expect("too little memory", DRIVER(submit)(device, &job), CODE(WRONG_SIZE));
}

static uint32_t other_hardware(void *context, uint32_t offset)
{
    (void)context;
    (void)offset;
    return 0;
}

int run_tests(void)
{
    HARDWARE_MAP
    struct DRIVER_PORT port = DRIVER(mapped)(HARDWARE_MAPPED);
    struct DRIVER_PORT other = port;
    DEVICE device;
    unsigned number;
    /* The timer counts down from the largest number on. */
    *(volatile uint32_t *)CSR_TIMER0_LOAD_ADDR = 0xffffffffu;
    *(volatile uint32_t *)CSR_TIMER0_RELOAD_ADDR = 0xffffffffu;
    *(volatile uint32_t *)CSR_TIMER0_EN_ADDR = 1;
    *(volatile uint32_t *)HARDWARE_ENABLE_ADDR = 1;
    allow_interrupt(0);
    __asm__ volatile("csrs mie, %0" : : "r"(0x800));
    __asm__ volatile("csrs mstatus, %0" : : "r"(0x8));
    port.wait = wait_for_interrupt;
    port.ticks = ticks;
    other.read = other_hardware;
    expect("other hardware", DRIVER(open)(&device, other), CODE(WRONG_HARDWARE));
    expect("open", DRIVER(open)(&device, port), CODE(OK));
    for (number = 0; number < test_count; ++number) {
        expect("configure", configure(&device, &tests[number]), CODE(OK));
        DRIVER(enable_interrupt)(&device, true);
        run_jobs(&device, &tests[number]);
        refused_jobs(&device, &tests[number]);
    }
    return failures;
}
