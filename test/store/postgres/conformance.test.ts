import { attentionConformance } from "../../conformance/attention-store.ts";
import { storeConformance } from "../../conformance/store.ts";
import { traceConformance } from "../../conformance/trace-store.ts";
import { webhookConformance } from "../../conformance/webhook-store.ts";
import { postgresSubject } from "../../support/postgres/postgres-subject.ts";

storeConformance(postgresSubject);
webhookConformance(postgresSubject);
attentionConformance(postgresSubject);
traceConformance(postgresSubject);
