import { storeConformance } from "../conformance/store/store.ts";
import { postgresSubject } from "../support/postgres/postgres-subject.ts";

storeConformance(postgresSubject);
