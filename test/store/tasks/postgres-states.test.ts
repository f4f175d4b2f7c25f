import { taskStateConformance } from "../../conformance/store/task-states.ts";
import { postgresSubject } from "../../support/postgres/postgres-subject.ts";

taskStateConformance(postgresSubject, 15);
