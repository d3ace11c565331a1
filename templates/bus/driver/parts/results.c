    case {{ prefix }}_OK: return "all is well";
    case {{ prefix }}_RUNNING: return "the job is not over";
    case {{ prefix }}_TIMEOUT: return "the job did not end in time";
    case {{ prefix }}_BUSY: return "jobs are under way that forbid it";
    case {{ prefix }}_NO_JOB: return "there is no job to wait for";
    case {{ prefix }}_WRONG_HARDWARE: return "the hardware is of another {% if shell.programmed() %}array, shell{% else %}program, tile{% endif %} or version";
    case {{ prefix }}_WRONG_SIZE: return "lines overlap, or an image does not fit its memory";
    case {{ prefix }}_MISALIGNED: return "an address or a stride is odd";
    case {{ prefix }}_REFUSED: return "the hardware refused an access to a register";
    case {{ prefix }}_READ_ERROR: return "{% if shell.rows().is_some() %}the banks{% else %}memory{% endif %} answered a read with an error";
    case {{ prefix }}_WRITE_ERROR: return "{% if shell.rows().is_some() %}the banks{% else %}memory{% endif %} answered a write with an error";
{%- if shell.programmed() %}
    case {{ prefix }}_WRONG_PROGRAM: return "the program is of another array, {% if shell.rows().is_some() %}or has more rows than a half{% else %}or has more streams than the shell{% endif %}";
    case {{ prefix }}_NO_PROGRAM: return "no program was configured";
{%- endif %}
{%- if shell.rows().is_some() %}
    case {{ prefix }}_WRONG_HEADER: return "there is no bitstream of the array at this row";
    case {{ prefix }}_UNAVAILABLE: return "the half is the array's, or a bitstream is read from it";
{%- endif %}
