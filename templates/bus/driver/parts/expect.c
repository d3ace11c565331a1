static int failures;

static void expect(const char *what, int result, int expected)
{
    if (result != expected) {
        printf("%s: %s; expected: %s\n", what, {{ name }}_text(result), {{ name }}_text(expected));
        ++failures;
    }
}
