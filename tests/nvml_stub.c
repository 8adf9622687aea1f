/* A stand-in for libnvidia-ml.so.1: answers from a text file of "key value" lines named by NVML_STUB.
 * A value "!N" answers with the NVML error N, and a missing key with "not supported" (3). Only the calls that the
 * meter makes are here, with the signatures of nvml.h. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3 };

typedef struct {
    unsigned fieldId, scopeId;
    long long timestamp, latencyUsec;
    unsigned valueType, nvmlReturn;
    union { double d; unsigned ui; unsigned long long ull; } value;
} FieldValue;

static int answer(const char *name, int device, char *out, size_t size)
{
    char wanted[64], key[64], value[128];
    int code = NOT_SUPPORTED;
    FILE *file = fopen(getenv("NVML_STUB"), "r");
    if (!file)
        return 999;
    snprintf(wanted, sizeof wanted, device < 0 ? "%s" : "%s%d", name, device);
    while (fscanf(file, "%63s %127[^\n]", key, value) == 2) {
        if (strcmp(key, wanted))
            continue;
        if (value[0] == '!') {
            code = atoi(value + 1);
        } else {
            snprintf(out, size, "%s", value);
            code = SUCCESS;
        }
    }
    fclose(file);
    return code;
}

static int number(const char *name, int device, unsigned long long *out)
{
    char text[128];
    int code = answer(name, device, text, sizeof text);
    if (code == SUCCESS)
        *out = strtoull(text, NULL, 10);
    return code;
}

static int small(const char *name, void *device, unsigned *out)
{
    unsigned long long value = 0;
    int code = number(name, (int)(intptr_t)device - 1, &value);
    if (code == SUCCESS)
        *out = (unsigned)value;
    return code;
}

int nvmlInitWithFlags(unsigned flags)
{
    unsigned long long ignored;
    int code = number("init", -1, &ignored);
    return flags ? INVALID_ARGUMENT : code == NOT_SUPPORTED ? SUCCESS : code;
}

int nvmlShutdown(void) { return SUCCESS; }

int nvmlDeviceGetCount_v2(unsigned *count)
{
    unsigned long long value = 0;
    int code = number("count", -1, &value);
    *count = (unsigned)value;
    return code;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = (void *)(intptr_t)(index + 1);
    return SUCCESS;
}

int nvmlDeviceGetName(void *device, char *name, unsigned length)
{
    return answer("name", (int)(intptr_t)device - 1, name, length);
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
    *pending = 0;
    return small("mig", device, current);
}

int nvmlDeviceGetVirtualizationMode(void *device, unsigned long long *mode)
{
    return number("virtual", (int)(intptr_t)device - 1, mode);
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules)
{
    return number("energy", (int)(intptr_t)device - 1, millijoules);
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) { return small("power", device, milliwatts); }

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts) { return small("limit", device, milliwatts); }

int nvmlDeviceGetFieldValues(void *device, int count, FieldValue *values)
{
    for (int i = 0; i < count; i++) {
        unsigned value = 0;
        int known = values[i].fieldId == 186 && values[i].scopeId == 0;
        values[i].nvmlReturn = known ? (unsigned)small("instant", device, &value) : NOT_SUPPORTED;
        values[i].value.ui = value;
    }
    return SUCCESS;
}
