import { enableFilter } from './filter.js';
import { enableScrolling } from './scrolling.js';
import { enableTryIt } from './try-it.js';

// The pages can be read without this script. It adds a filter to the navigation, and forms that call the API.
enableFilter(document);
enableScrolling(document);
enableTryIt(document);
