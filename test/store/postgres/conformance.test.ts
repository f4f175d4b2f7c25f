import { storeConformance } from "../../conformance/store.ts";
import { postgresSubject } from "../../support/postgres/postgres-subject.ts";

storeConformance(postgresSubject);
