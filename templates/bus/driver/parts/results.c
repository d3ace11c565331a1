    case {{ prefix }}_OK: return "all is well";
    case {{ prefix }}_RUNNING: return "the job is not over";
    case {{ prefix }}_TIMEOUT: return "the job did not end in time";
    case {{ prefix }}_BUSY: return "jobs are under way that forbid it";
    case {{ prefix }}_NO_JOB: return "there is no job to wait for";
    case {{ prefix }}_WRONG_HARDWARE: return "the hardware is of another {% if shell.programmed %}array, shell{% else %}program, tile{% endif %} or version";
    case {{ prefix }}_WRONG_SIZE: return "lines overlap, or an image does not fit its memory";
    case {{ prefix }}_MISALIGNED: return "an address or a stride is odd";
    case {{ prefix }}_REFUSED: return "the hardware refused an access to a register";
    case {{ prefix }}_READ_ERROR: return "memory answered a read with an error";
    case {{ prefix }}_WRITE_ERROR: return "memory answered a write with an error";
{%- if shell.programmed %}
    case {{ prefix }}_WRONG_PROGRAM: return "the program is of another array, or has more streams than the shell";
    case {{ prefix }}_NO_PROGRAM: return "no program was configured";
{%- endif %}
