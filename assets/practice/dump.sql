-- PostgreSQL database dump
CREATE TABLE customers (id integer, name text);
INSERT INTO customers VALUES (1, 'Nobody Atall');
