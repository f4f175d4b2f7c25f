import { taskStateConformance } from "../../conformance/store/task-states.ts";
import { sqliteSubject } from "../../support/sqlite-subject.ts";

taskStateConformance(sqliteSubject, 60);
