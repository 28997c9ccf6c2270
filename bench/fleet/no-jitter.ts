/** Imported before a proxy: every machine of the fleet waits as long as all others do. */
Math.random = () => 1;
