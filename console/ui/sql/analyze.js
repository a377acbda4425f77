import { signal } from '../vendor/preact.js';

/** A statement that the page SQL wants measured by the page Plan: {sql, db}. An address cannot
 * say so: it would run statements. */
export const analyze = signal(null);
