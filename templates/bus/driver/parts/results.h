/* Results of functions: 0 when all is well, a positive number when there is more to wait for, a negative one when something is wrong. */
enum {{ name }}_result {
    {{ prefix }}_OK = 0,
    {{ prefix }}_RUNNING = 1,
    {{ prefix }}_TIMEOUT = -1,       /* the job did not end in time; it still runs */
    {{ prefix }}_BUSY = -2,          /* two jobs are there already, or one runs that forbids it */
    {{ prefix }}_NO_JOB = -3,        /* there is none to wait for */
    {{ prefix }}_WRONG_HARDWARE = -4,/* the identity is that of another {% if shell.programmed() %}array, shell{% else %}program, tile{% endif %} or version */
    {{ prefix }}_WRONG_SIZE = -5,    /* lines overlap, or the image does not fit its memory */
    {{ prefix }}_MISALIGNED = -6,    /* an address or a stride is odd */
    {{ prefix }}_REFUSED = -7,       /* the hardware answered an access to a register with an error */
    {{ prefix }}_READ_ERROR = -8,    /* {% if shell.rows().is_some() %}the banks{% else %}memory{% endif %} answered a read with an error */
    {{ prefix }}_WRITE_ERROR = -9{% if shell.programmed() %},{% endif %}    /* {% if shell.rows().is_some() %}the banks{% else %}memory{% endif %} answered a write with an error */
{%- if shell.programmed() %}
    {{ prefix }}_WRONG_PROGRAM = -10,/* the program is of another array, {% if shell.rows().is_some() %}or has more rows than a half{% else %}or has more streams than the shell{% endif %} */
    {{ prefix }}_NO_PROGRAM = -11{% if shell.rows().is_some() %},{% endif %}    /* no program was configured */
{%- if shell.rows().is_some() %}
    {{ prefix }}_WRONG_HEADER = -12, /* there is no bitstream of the array at this row */
    {{ prefix }}_UNAVAILABLE = -13   /* the half is the array's, or a bitstream is read from it */
{%- endif %}
{%- endif %}
};

/* A result in a few words. */
const char *{{ name }}_text(int result);

/* How the driver reaches the registers{% if shell.rows().is_some() %} and the rows of the banks{% endif %}. */
struct {{ name }}_port {
    uint32_t (*read)(void *context, uint32_t offset);
    void (*write)(void *context, uint32_t offset, uint32_t value);
    /* Waits for the interrupt, or for some time; NULL: registers are polled without a pause. */
    void (*wait)(void *context);
    /* The time in ticks of any length, which may wrap; NULL: timeouts count polls. */
    uint32_t (*ticks)(void *context);
{%- if shell.rows().is_some() %}
    /* Moves rows from and to a byte address of the banks, as a processor or a DMA does: whether all were answered without an error. */
    bool (*write_rows)(void *context, uint32_t address, const uint64_t *rows, uint32_t count);
    bool (*read_rows)(void *context, uint32_t address, uint64_t *rows, uint32_t count);
{%- endif %}
    void *context;
};

{% if shell.rows().is_some() -%}
/* Registers and banks that are mapped to memory. */
struct {{ name }}_map {
    volatile void *registers;
    volatile void *buffer;
};

/* A port to them. The map must stay where it is. */
struct {{ name }}_port {{ name }}_mapped(struct {{ name }}_map *map);
{%- else -%}
/* A port to registers that are mapped to memory. */
struct {{ name }}_port {{ name }}_mapped(volatile void *registers);
{%- endif %}
