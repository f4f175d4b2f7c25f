import { attentionConformance } from "../conformance/store/attention.ts";
import { storeConformance } from "../conformance/store/store.ts";
import { traceConformance } from "../conformance/store/traces.ts";
import { webhookConformance } from "../conformance/store/webhooks.ts";
import { postgresSubject } from "../support/postgres/postgres-subject.ts";

storeConformance(postgresSubject);
webhookConformance(postgresSubject);
attentionConformance(postgresSubject);
traceConformance(postgresSubject);
