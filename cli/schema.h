/* JSON Schemas of the documents, made from the rows that the documents are made from. */
#ifndef CLI_SCHEMA_H
#define CLI_SCHEMA_H

#include <plimsoll/base.h>

/* Names of the documents, NULL past the last: "machine", "model", "fit" ... */
const char *cli_schema_at(size_t i);
/* Prints the schema of a document. False where there is no such document. */
bool cli_schema_print(const char *name);

#endif
