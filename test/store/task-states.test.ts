import { taskStateConformance } from "../conformance/task-states.ts";
import { sqliteSubject } from "../support/sqlite-subject.ts";

taskStateConformance(sqliteSubject, 150);
